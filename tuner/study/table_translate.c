/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Headers of other languages in English. */
#include <ctype.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

/* Words of headers in German, French, Spanish, Italian, Greek, Russian and Chinese, without accents, and what they are
 * in English; "" is a word that only joins others. A word of ours that stands among theirs is its own translation. */
static const char *const translations[][2] = {
	{"strong weak threads thread ms s us ns mean median min max openmp omp mpi cpu gpu runs seq serial default vs in n "
     "p static dynamic guided auto cuda opencl pthreads mutex atomic critical barrier simd naive tiled kernel block "
     "total "
     "global time speedup efficiency cores size sequential parallel type execution byte bytes",
     NULL},
	{"of de des d l der die das del della dei di du la le les el los anzahl zahl nº n° nombre nb numero num "
     "no nr cantidad quantidade qtd numar broj aantal pocet sayisi jumlah брой "
     "αριθμος πληθος 数 数量 个数 执行",
     ""},
	{"zeit temps tiempo tiempos tempo tempos tempi tijd timp sure suresi zaman waktu vrijeme vreme doba ido време "
     "χρονος 时间 耗时 用时 时间开销",
     "time"},
	{"laufzeit ausfuhrungszeit ausfuehrungszeit rechenzeit", "runtime"},
	{"dauer duree duracion duracao durata διαρκεια", "duration"},
	{"合计 总计 总和 gesamt summe somme suma totale calkowity toplam ukupno celkem", "total"},
	{"ausfuhrung ejecucion execucao esecuzione calcul calculo calcolo durchlauf wykonania calisma eksekusi "
     "futasi εκτελεσης 运行 计算",
     "run"},
	{"中位数 медианное медианный", "median"},
	{"并行", "parallel"},
	{"srednia sredni", "mean"},
	{"mittlere mittel mittelwert durchschnitt moyen moyenne medio media promedio prom ortalama prumer priemer "
     "gemiddelde "
     "μεσος μεση 平均值 平均",
     "mean"},
	{"faden threadanzahl fils filetage hilos hilo iplik parcacigi vlakna vlaken vlakien niti szalak нишки νηματα "
     "νηματων 线程",
     "threads"},
	{"kerne kern rechenkerne coeurs coeur nucleos nucleo core cekirdek jadra jader kernen nuclee nuclis jezgri jezgara "
     "πυρηνες πυρηνων 核心 核",
     "cores"},
	{"prozesse prozess processus procesos proceso processi processo processos procesu procesov procesa processen "
     "procese "
     "διεργασιες διεργασιων 进程",
     "processes"},
	{"grose groesse problemgrose problemgroesse taille tamano tamanyo tamanho dimensione boyut boyutu velikost velkost "
     "grootte dimensiune meret ukuran velicina μεγεθος 规模 大小",
     "size"},
	{"do da dos das", ""},
	{"probleme problema problem προβληματος 问题", "problem"},
	{"beschleunigung acceleration aceleracion aceleracao accelerazione hizlanma zrychleni zrychlenie versnelling "
     "accelerare "
     "gyorsulas ubrzanje percepatan acceleracio επιταχυνση 加速比",
     "speedup"},
	{"effizienz efficacite eficiencia efficienza verimlilik verim efektivita ucinnost eficienta hatekonysag efikasnost "
     "efisiensi αποδοτικοτητα 效率",
     "efficiency"},
	{"ganancia ganho guadagno mejora melhoria", "gain"},
	{"iteracion iteracao iterazione iteracja итерация yineleme", "iteration"},
	{"iteraciones iteracoes iterazioni iterationen iteracje итераций итерации", "iterations"},
	{"repeticion repeticao repeticiones wiederholung ripetizione powtorzenie tekrar повтор", "repetition"},
	{"corrida rodada essai versuch prueba proba запуск прогон", "trial"},
	{"medicion medicao messung misura mesure pomiar замер", "measurement"},
	{"pasos passos passi schritte kroki", "steps"},
	{"elementos elementi elemente elementow элементов", "elements"},
	{"computo computacion computacao berechnung obliczen вычислений", "computation"},
	{"comunicacion comunicacao comunicazione kommunikation komunikacji обмена", "communication"},
	{"resolucion resolucao auflosung risoluzione rozdzielczosc", "resolution"},
	{"por", "per"},
	{"memoire memoria speicher pamiec", "memory"},
	{"durchsatz debit rendimiento 吞吐量", "throughput"},
	{"长度 longueur longitud lange lunghezza", "length"},
	{"带宽 bandbreite", "bandwidth"},
	{"entrada entradas eingabe entree ingresso", "input"},
	{"bild bilder imagen imagem immagine", "image"},
	{"standardabweichung ecart odch desviacion desvio desv deviazione αποκλιση 标准差", "stddev"},
	{"estandar standard padrao st τυπικη", ""},
	{"millisekunden millisecondes milisegundos millisecondi milisaniye 毫秒", "ms"},
	{"mikrosekunden microsecondes microsegundos microsecondi 微秒", "us"},
	{"nanosekunden nanosecondes nanosegundos nanosecondi 纳秒", "ns"},
	{"sekunden secondes segundos seg segs secondi saniye detik sekundy δευτερολεπτα 秒", "s"},
	{"количество число кількість", ""},
	{"время час", "time"},
	{"выполнения работы исполнения виконання роботи", "run"},
	{"среднее середній", "mean"},
	{"потоки потоков поток нити нитей потоків потік", "threads"},
	{"ядра ядер", "cores"},
	{"процесс процесса процессы процессов процеси процесів", "processes"},
	{"размер розмір", "size"},
	{"матрица матрицы матриця матриці", "matrix"},
	{"последовательный последовательно", "sequential"},
	{"послідовний послідовно", "sequential"},
	{"параллельный параллельно паралельний паралельно", "parallel"},
	{"ускорение прискорення", "speedup"},
	{"эффективность ефективність", "efficiency"},
	{"мс", "ms"},
	{"мкс", "us"},
	{"нс", "ns"},
	{"с сек секунд", "s"},
	{"медиана", "median"},
	{"liczba", ""},
	{"串行 顺序 串行化", "serial"},
	{"sekwencyjnie sekwencyjny sequentiel sequentielle sequenziell sequentieel secuencial sequencial sequenziale "
     "sirali "
     "sekvencni sekvencne secvential sekuensial sekvencijalno",
     "sequential"},
	{"sans sem sin ohne senza", "non"},
	{"parallele paralelo paralela parallelo paralel paralelni paralelne paralelno rownolegle rownolegly "
     "parallelisation paralelizacao paralelizacion parallelisierung paralelizar paralelismo",
     "parallel"},
	{"vecteur vektor vettore vetor", "vector"},
	{"matrice matriz matris matice macierz macierzy", "matrix"},
	{"czas", "time"},
	{"razem lacznie", "total"},
	{"watki watkow watek", "threads"},
	{"procesy procesow", "processes"},
	{"rdzenie rdzeni", "cores"},
	{"rozmiar", "size"},
	{"przyspieszenie", "speedup"},
	{"fração fraccion fracción frazione anteil ulamek", "fraction"},
	{"efektywnosc wydajnosc", "efficiency"},
	{"blad", "error"},
	{"lado cote seite lato", "side"},
	{"celdas celulas cellules zellen celle", "cells"},
	{"razao razon rapporto rapport verhaltnis", "ratio"},
	{"diferencia differenza unterschied roznica разница різниця 差异", "difference"},
	{"jadro noyau", "kernel"},
	{"blok bloc bloque blocco bloco", "block"},
	{"実行", "run"},
	{"時間 시간", "time"},
	{"スレッド 스레드", "threads"},
	{"プロセス 프로세스", "processes"},
	{"コア 코어", "cores"},
	{"レイテンシ", "latency"},
	{"高速化", "speedup"},
	{"標準偏差", "stddev"},
	{"サイズ 크기", "size"},
};

/* Lower case without accents, for Latin and Greek letters of two bytes; the brackets of Chinese become ours. */
static void fold(const char *text, char out[2 * TABLE_NAME]) {
	static const char latin[] = "aaaaaaaceeeeiiiidnooooo ouuuuytsaaaaaaaceeeeiiiidnooooo ouuuuyty";
	static const char further[] =
		"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiiiiijjkkklllllll"
		"lllnnnnnnnnnoooooooorrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs"; /* from U+0100 on */
	/* with an accent, and without */
	static const char greek[] = "άαέεήηίιόούυώωΆαΈεΉηΊιΌοΎυΏω";
	static const char *const others[][2] = {
		{"œ", "oe"}, {"（", " ("}, {"）", ")"}, {"’", "'"}, {"ș", "s"}, {"ț", "t"},
	};
	enum { OTHERS = sizeof others / sizeof *others };
	size_t length = 0, i;
	for (const unsigned char *at = (const unsigned char *)text; *at && length < TABLE_NAME;) {
		const char *accented = at[0] >= 0xce && at[1] ? memmem(greek, sizeof greek, at, 2) : NULL;
		for (i = 0; i < OTHERS && strncmp((const char *)at, others[i][0], strlen(others[i][0])) != 0;)
			i++;
		if (i < OTHERS) {
			length += (size_t)snprintf(out + length, 4, "%s", others[i][1]);
			at += strlen(others[i][0]);
		} else if (accented && (accented - greek) % 4 == 0) {
			memcpy(out + length, accented + 2, 2);
			length += 2;
			at += 2;
		} else if (*at == 0xc3 && at[1] >= 0x80) {
			out[length++] = latin[at[1] - 0x80];
			at += 2;
		} else if ((*at == 0xc4 || *at == 0xc5) && at[1] >= 0x80) {
			out[length++] = further[(*at - 0xc4) * 0x40 + at[1] - 0x80];
			at += 2;
		} else if (*at == 0xce && at[1] >= 0x91 && at[1] <= 0xa9) { /* capitals of Greek */
			out[length++] = (char)(at[1] < 0xa0 ? 0xce : 0xcf);
			out[length++] = (char)(at[1] < 0xa0 ? at[1] + 0x20 : at[1] - 0x20);
			at += 2;
		} else if (*at == 0xd0 && at[1] >= 0x90 && at[1] <= 0xaf) { /* capitals of Cyrillic */
			out[length++] = (char)(at[1] < 0xa0 ? 0xd0 : 0xd1);
			out[length++] = (char)(at[1] < 0xa0 ? at[1] + 0x20 : at[1] - 0x20);
			at += 2;
		} else
			out[length++] = (char)tolower(*at++);
	}
	out[length] = '\0';
}

/* The English word for the beginning of a text, whose length it sets: a whole word, or the longest one of Chinese,
 * which does not separate them. NULL: it is not known. */
static const char *translated(const char *text, size_t *length) {
	const char *found = NULL;
	bool chinese = (unsigned char)*text >= 0xe3; /* or Japanese or Korean */
	size_t word = chinese ? 0 : strcspn(text, " _-.,/()[]':"), best = 0;
	for (size_t i = 0; i < sizeof translations / sizeof *translations; i++)
		for (const char *at = translations[i][0]; *at; at += strspn(at, " ")) {
			size_t own = strcspn(at, " ");
			bool fits =
				chinese ? own > best && strncmp(at, text, own) == 0 : own == word && strncasecmp(at, text, own) == 0;
			if (fits) {
				best = own;
				found = translations[i][1] ? translations[i][1] : at;
			}
			at += own;
		}
	*length = best;
	return found;
}

/* A name that is not known may have a unit that is: "下行（毫秒）" is "下行 (ms)". */
static void unit_translate(const char *header, char out[TABLE_NAME]) {
	char text[2 * TABLE_NAME];
	const char *wide = strstr(header, "（"), *name = wide ? wide : strpbrk(header, "([");
	fold(header, text);
	char *open = strrchr(text, '('), *unit = open ? open + 1 : text;
	size_t length = open ? strcspn(unit, ")") : 0, word = 0;
	const char *ours = length ? translated(unit, &word) : NULL;
	bool known = ours && word == length;
	known = known && strncmp(ours, unit, word) != 0;
	size_t own = name ? (size_t)(name - header) : 0;
	own -= own && header[own - 1] == ' ';
	if (own && length && (wide || known))
		snprintf(out, TABLE_NAME, "%.*s (%.*s)", (int)(own < TABLE_NAME / 2 ? own : TABLE_NAME / 2), header,
		         (int)(known                     ? strcspn(ours, " ")
		               : length < TABLE_NAME / 4 ? length
		                                         : TABLE_NAME / 4),
		         known ? ours : unit);
}

/* Is it a word of another language? */
static bool is_theirs(const char *word, size_t length) {
	char text[2 * TABLE_NAME], copy[TABLE_NAME];
	snprintf(copy, sizeof copy, "%.*s", (int)(length < TABLE_NAME ? length : TABLE_NAME - 1), word);
	fold(copy, text);
	const char *ours = translated(text, &length);
	return ours && !text[length] && strncmp(ours, text, length) != 0;
}

/* "numberOfProcesses", "executionTime" and "TempoMS" are words, too. */
static void camel_split(const char *header, char out[TABLE_NAME]) {
	static const char second[] =
		"Of Number Count Size Length Thread Threads Process Processes Procs Proc Core Cores Worker Workers Rank "
		"Ranks Node Nodes Task Tasks Time Duration Ms Ns Sec Seconds Sequencial Sequential Paralelo Parallel "
		"Medio Mean Per Step";
	size_t length = 0;
	const char *first = header;
	for (const char *at = header; *at && length + 2 < TABLE_NAME; at++) {
		size_t word = 1;
		while (islower((unsigned char)at[word]))
			word++;
		first = strchr(" _-.(", *at) ? at + 1 : first;
		if (at > header && islower((unsigned char)at[-1]) && isupper((unsigned char)*at) &&
		    (table_among(at, word, second) || is_theirs(first, (size_t)(at - first)))) {
			out[length++] = '_';
			first = at;
		}
		out[length++] = *at;
	}
	out[length] = '\0';
}

/* "sin paralelizar" and "sans parallélisation" */
static void serial_name(char *name) {
	static const char without[] = "non parallel", serial[] = "serial";
	char *at = strstr(name, without);
	if (at) {
		memcpy(at, serial, strlen(serial));
		memmove(at + strlen(serial), at + strlen(without), strlen(at + strlen(without)) + 1);
	}
}

void table_translate(const char *name, char out[TABLE_NAME]) {
	char text[2 * TABLE_NAME], header[TABLE_NAME];
	size_t length = 0, word;
	bool theirs = false, time = false; /* what follows a word for time may be anything */
	const char *letter = name;
	while (*letter && !isalpha((unsigned char)*letter) && (unsigned char)*letter < 0x80)
		letter++;
	if (!*letter) { /* a number, as most cells are */
		snprintf(out, TABLE_NAME, "%.*s", TABLE_NAME - 1, name);
		return;
	}
	camel_split(name, header);
	fold(header, text);
	for (const char *at = text; *at && length + 32 < TABLE_NAME; at += word) {
		word = strspn(at, " _-.,/()[]':");
		if (word) {
			bool blank = *at == '\'' || (strchr(" _-", *at) && (!length || out[length - 1] == ' '));
			length += blank ? 0 : (size_t)snprintf(out + length, TABLE_NAME - length, "%.1s", *at == '_' ? " " : at);
			word = 1;
			continue;
		}
		const char *ours = translated(at, &word);
		if (!ours && strspn(at, "0123456789")) { /* a number is one in any language */
			ours = at;
			word = strspn(at, "0123456789");
		}
		if (!ours && !time) {
			theirs = false;
			break;
		}
		if (!ours) {
			ours = at;
			word = strcspn(at, " _-.,/()[]':");
		}
		size_t own = ours == at ? word : strcspn(ours, " ");
		theirs = theirs || strncmp(ours, at, own) != 0 || own != word;
		time = time || (theirs && !length && strcmp(ours, "time") == 0);
		bool joined = own && length && !strchr(" (/[.", out[length - 1]);
		length += (size_t)snprintf(out + length, TABLE_NAME - length, "%s%.*s", joined ? " " : "", (int)own, ours);
	}
	out[length] = '\0';
	serial_name(out);
	if (theirs && out[strspn(out, " ()[]/.,")])
		return;
	snprintf(out, TABLE_NAME, "%.*s", TABLE_NAME - 1, header);
	unit_translate(header, out);
}
