/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <fnmatch.h>
#include <string.h>

#include "tuner/study/producer_impl.h"

/* Columns and members as the programs' documentation and sources name them. */
static const struct producer producers[] = {
	{"hyperfine", "command;mean;stddev;median;user;system;min;max", "\"results\";\"command\";\"mean\"", "results",
     "times=sample:s; median=time:s; mean=time:s; parameter_*=parameter; parameters.*=parameter; command=command"},
	{"Google Benchmark", "name;iterations;real_time;cpu_time;time_unit", "\"benchmarks\";\"real_time\";\"time_unit\"",
     "benchmarks",
     "real_time=time; time_unit=unit; run_type=aggregate:iteration; name=path; error_occurred=status:false;"
     "threads=parameter:threads"},
	{"Google Benchmark", "Benchmark;Time;CPU;Iterations", NULL, NULL, "Time=time; Benchmark=path"},
	{"nvbench", "Benchmark;Device Name;Skipped;GPU Time (sec)", "\"benchmarks\";\"states\";\"axis_values\"",
     "benchmarks.states",
     "GPU Time (sec)=time:s; summaries.nv/cold/time/gpu/mean=time:s; summaries.Average GPU Time (Cold)=time:s;"
     "CPU Time (sec)=time:s; Skipped=status:No; is_skipped=status:false; axis_values.*=named; Benchmark=parameter;"
     "^name=parameter:benchmark; Device=skip; Device Name=skip; Samples=skip; Noise*=skip; Batch*=skip; Elem/s*=skip;"
     "Elements=skip; Global*=skip; BWUtil=skip; BWPeak=skip; L?HitRate*=skip; *Eff*=skip; *Occ*=skip;"
     "summaries.*=skip; device=skip; name=skip; description=skip; type_config_index=skip; skip_reason=skip;"
     "min_samples=skip; timeout=skip; skip_time=skip; ^*=skip; *time*=skip; *noise*=skip; *=named"},
	{"pytest-benchmark", "name;min;max;mean;stddev;rounds;median;iqr", "\"benchmarks\";\"stats\";\"fullname\"",
     "benchmarks",
     "stats.data=sample:s; stats.median=time:s; median=time:s; mean=time:s; param:*=named; params.*=named;"
     "name=test:benchmark; group=parameter"},
	{"JMH", "Benchmark;Mode;Threads;Samples;Score;Unit", "\"jmhVersion\";\"primaryMetric\"", "",
     "primaryMetric.rawData=sample; primaryMetric.score=score; Score=score; primaryMetric.scoreUnit=unit; Unit=unit;"
     "Param: *=named; params.*=named; Threads=parameter:threads; threads=parameter:threads;"
     "Benchmark=parameter:benchmark; benchmark=parameter"},
	{"BenchmarkDotNet", "Method;Mean;Error;StdDev", "\"HostEnvironmentInfo\";\"Benchmarks\"", "Benchmarks",
     "Statistics.OriginalValues=sample:ns; Mean=time; Statistics.Mean=time:ns; Method=parameter; Parameters=pairs;"
     "Type=parameter; Error=skip; StdDev=skip; StdErr=skip; Median=skip; Min=skip; Max=skip; Ratio*=skip; Gen*=skip;"
     "Alloc*=skip; Rank=skip; Op/s=skip; Q[0-9]=skip; P[0-9]*=skip; Baseline=skip; Completed*=skip; Lock*=skip; "
     "Skewness=skip;"
     "Kurtosis=skip; MValue=skip; Iterations=skip; Code Size=skip; Statistics.*=skip; Memory.*=skip; *Title=skip;"
     "Namespace=skip; FullName=skip; DisplayInfo=skip; Measurements=skip; Metrics*=skip; ^*=skip; *=named"},
	{"nanobench", "title;name;unit;batch;*elapsed*", "\"results\";\"median(elapsed)\"", "results",
     "median(elapsed)=time:s; elapsed=time:s; name=parameter:benchmark; title=parameter;"
     "median(instructions)=counter:instructions; median(cpucycles)=counter:cycles; "
     "median(branchmisses)=counter:branch_misses;"
     "instructions=counter:instructions; branch misses=counter:branch_misses"},
	{"nanobench", "?s/op;op/s;err%;benchmark", NULL, NULL, "?s/op=time; benchmark=parameter"},
	{"Criterion", "group;function;value;sample_measured_value;unit;iteration_count", NULL, NULL,
     "sample_measured_value=time; iteration_count=per; unit=unit; function=parameter; value=named; group=parameter"},
	{"Criterion", "group;function;value;sample_time_nanos;iteration_count", NULL, NULL,
     "sample_time_nanos=time:ns; iteration_count=per; function=parameter; value=named; group=parameter"},
	{"Criterion", NULL, "\"reason\";\"benchmark-complete\";\"typical\"", "",
     "typical.estimate=time; typical.unit=unit; id=path; reason=aggregate:benchmark-complete"},
	{"Criterion", NULL, "\"point_estimate\";\"median_abs_dev\"", "",
     "median.point_estimate=time:ns; slope.point_estimate=time:ns; mean.point_estimate=time:ns"},
	{"Optuna", "number;value;state", NULL, NULL,
     "value=less; params_*=parameter; user_attrs_*=skip; state=status:COMPLETE"},
	{"Optuna", "number;values_0;state", NULL, NULL, "values_0=less; params_*=parameter; state=status:COMPLETE"},
	{"Optuna", "number;value;params_*", NULL, NULL, "value=less; params_*=parameter"},
	{"ytopt", "*;objective;elapsed_sec", NULL, NULL, "objective=time:s; elapsed_sec=skip; *=parameter"},
	{"DeepHyper", "objective;job_id;p:*", NULL, NULL, "objective=more; p:*=parameter; job_status=status:DONE"},
	{"DeepHyper", "objective;job_id;m:timestamp_submit", NULL, NULL,
     "objective=more; m:*=skip; job_*=skip; *=parameter"},
	{"OpenTuner", NULL, "\"configuration\";\"was_new_best\"", "",
     "time=time:s; configuration.*=parameter; state=status:OK; id=skip"},
	{"Triton", NULL, "\"configs_timings\";\"kwargs\"", "configs_timings",
     "1=time:ms; 0.kwargs.*=parameter; 0.num_warps=parameter; 0.num_ctas=parameter; 0.num_stages=parameter; "
     "0.maxnreg=parameter; ^key=problem"},
	{"CLBlast", NULL, "\"kernel_family\";\"results\";\"parameters\"", "results",
     "time=time:ms; parameters.*=parameter; kernel=parameter; ^arg_m=problem:m; ^arg_n=problem:n; ^arg_k=problem:k;"
     "^precision=problem; ^kernel_family=problem"},
	{"ncu", "ID;Kernel Name;Section Name", NULL, NULL,
     "gpu__time_duration.*=time; Duration=time; Kernel Name=parameter:kernel_name; Block Size=parameter;"
     "Grid Size=parameter; *__*=counter; L? *=counter; *Throughput=counter; *=skip"},
	{"ncu", "ID;Kernel Name;gpu__time_duration.*", NULL, NULL,
     "gpu__time_duration.*=time; Kernel Name=parameter:kernel_name; Block Size=parameter; Grid Size=parameter;"
     "*__*=counter"},
	{"nsys", "Total Time (ns);Instances;Avg (ns);Name", NULL, NULL,
     "Med (ns)=time; Avg (ns)=time; Name=parameter:kernel_name"},
	{"nsys", "Total Time (ns);Num Calls;Avg (ns);Name", NULL, NULL,
     "Med (ns)=time; Avg (ns)=time; Name=parameter:call"},
	{"nsys", "Start (ns);Duration (ns);CorrId;Name", NULL, NULL,
     "Duration (ns)=time; Name=parameter:kernel_name; Grd?=parameter; Blk?=parameter"},
	{"KTT", "Kernel name;*duration (us)", NULL, NULL,
     "Computation duration (us)=time:us; Kernel duration (us)=time:us; *duration (us)=time:us; *overhead*=skip;"
     "*status*=status:Ok; Kernel name=skip; Global size=skip; Local size=skip; *=parameter"},
	{"time(1)", "real;user;sys", NULL, NULL, "real=time:s; user=skip; sys=skip; *=named"},
	{"likwid", "likwid time", NULL, NULL, "likwid time=time:s; *=counter"},
	{"perf stat", "perf stat time", NULL, NULL, "perf stat time=time:s; perf stat run=command; *=counter"},
};

static bool has_name(const struct csv *csv, const char *pattern, size_t length) {
	char one[TABLE_NAME];
	snprintf(one, sizeof one, "%.*s", (int)length, pattern);
	for (size_t c = 0; c < csv->columns; c++)
		if (fnmatch(one, csv->header[c], FNM_CASEFOLD) == 0)
			return true;
	return false;
}

/* Does the text have all of the words, which ";" separates? */
static bool has_all(const struct csv *csv, const char *text, size_t size, const char *words) {
	while (words && *words) {
		size_t length = strcspn(words, ";");
		if (csv ? !has_name(csv, words, length) : !memmem(text, size, words, length))
			return false;
		words += length + (words[length] == ';');
	}
	return true;
}

const struct producer *producer_of_header(const struct csv *csv) {
	for (size_t i = 0; i < sizeof producers / sizeof *producers; i++)
		if (producers[i].header && has_all(csv, "", 0, producers[i].header))
			return &producers[i];
	return NULL;
}

const struct producer *producer_of_json(const char *text, size_t size) {
	enum { NEAR = 1 << 16 };
	for (size_t i = 0; i < sizeof producers / sizeof *producers; i++)
		if (producers[i].keys && has_all(NULL, text, size < NEAR ? size : NEAR, producers[i].keys))
			return &producers[i];
	return NULL;
}
