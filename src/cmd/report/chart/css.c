/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "src/cmd/report/chart/chart.h"

/* sN and fN: stroke and fill of the roles and series in chart_colour.c. */
const char chart_css[] =
	".chart{--c1:#1a1a1a;--c2:#707070;--c3:#dddddd;--c4:#eeeeee;"
	"--c16:#0072b2;--c17:#d55e00;--c18:#009e73;--c19:#cc79a7;--c20:#e69f00;--c21:#56b4e9;--c22:#1a1a1a;"
	"display:block;width:100%;max-width:36rem;height:auto;overflow:hidden;fill:none;"
	"font-family:system-ui,\"Liberation Sans\",Arial,sans-serif;break-inside:avoid}\n"
	"@media screen and (prefers-color-scheme:dark){.chart{--c1:#e8e8e8;--c2:#9a9a9a;--c3:#3c3c3c;--c4:#2c2c2c;"
	"--c16:#4fa9e0;--c17:#f47c35;--c18:#1fc598;--c19:#e39fc5;--c20:#e69f00;--c21:#a9dbf7;--c22:#e8e8e8}}\n"
	".chart .s1{stroke:var(--c1)}.chart .s2{stroke:var(--c2)}.chart .s3{stroke:var(--c3)}.chart .s4{stroke:var(--c4)}"
	".chart .s16{stroke:var(--c16)}.chart .s17{stroke:var(--c17)}.chart .s18{stroke:var(--c18)}"
	".chart .s19{stroke:var(--c19)}.chart .s20{stroke:var(--c20)}.chart .s21{stroke:var(--c21)}"
	".chart .s22{stroke:var(--c22)}\n"
	".chart .f1{fill:var(--c1)}.chart .f2{fill:var(--c2)}.chart .f3{fill:var(--c3)}.chart .f4{fill:var(--c4)}"
	".chart .f16{fill:var(--c16)}.chart .f17{fill:var(--c17)}.chart .f18{fill:var(--c18)}.chart .f19{fill:var(--c19)}"
	".chart .f20{fill:var(--c20)}.chart .f21{fill:var(--c21)}.chart .f22{fill:var(--c22)}\n";
