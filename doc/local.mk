# SPDX-License-Identifier: GPL-3.0-or-later
dist_doc_DATA = README.md NEWS.md COPYING COPYING.BSD %D%/measurement.md %D%/programs.md %D%/plugins.md \
	%D%/regions.md %D%/inside.md %D%/specifications.md %D%/protocol.md %D%/experiments.md %D%/counters.md %D%/gpu.md %D%/replay.md %D%/kokkos.md \
	%D%/models.md %D%/reasons.md %D%/regression-tests.md %D%/search.md %D%/sizes.md %D%/tables.md %D%/fleet.md %D%/fuzzing.md %D%/start.md %D%/contents.md %D%/stability.md %D%/faq.md %D%/comparison.md \
	%D%/tutorial-program.md %D%/tutorial-kernel.md %D%/tutorial-gpu.md %D%/tutorial-centre.md %D%/mpi.md %D%/services.md %D%/energy.md \
	%D%/python.md %D%/from-kernel-tuner.md %D%/from-optuna.md %D%/from-hyperfine.md %D%/from-likwid.md
doclabdir = $(docdir)/lab
dist_doclab_DATA = %D%/lab/search.md %D%/lab/figures.md %D%/lab/first-hour.md
EXTRA_DIST += %D%/report.png \
	%D%/adr/0001-process-boundary.md \
	%D%/adr/0002-ask-tell.md \
	%D%/adr/0003-sqlite.md \
	%D%/adr/0004-run-time-gpu-compilation.md \
	%D%/adr/0005-programs-in-the-worker.md \
	%D%/adr/0006-counters-by-plan.md \
	%D%/adr/0007-gpu-emulator.md \
	%D%/adr/0008-one-name-several-devices.md \
	%D%/adr/0009-surrogate.md \
	%D%/adr/0010-reasons.md \
	%D%/adr/0011-fleet.md \
	%D%/adr/0012-what-mattered.md \
	%D%/adr/0013-rooms.md \
	%D%/adr/0014-early-looks.md \
	%D%/adr/0015-batches.md \
	%D%/adr/0016-opencl.md \
	%D%/adr/0019-hip.md \
	%D%/adr/0017-cuda-programs.md %D%/adr/0018-tables.md \
	%D%/adr/0020-doors-and-types.md \
	%D%/adr/0021-openmp-beside-the-engine.md

exampleplugindir = $(docdir)/examples/plugin
dist_exampleplugin_DATA = %D%/examples/plugin/Makefile %D%/examples/plugin/transpose.c

examplespecdir = $(docdir)/examples/spec-c
dist_examplespec_DATA = %D%/examples/spec-c/stencil.json %D%/examples/spec-c/stencil.c

examplespeccudadir = $(docdir)/examples/spec-cuda
dist_examplespeccuda_DATA = %D%/examples/spec-cuda/convolution.t1.json %D%/examples/spec-cuda/convolution_milo.cu

exampleregionsdir = $(docdir)/examples/regions
dist_exampleregions_DATA = %D%/examples/regions/Makefile %D%/examples/regions/heat.c %D%/examples/regions/heat.f90
exampleinsidedir = $(docdir)/examples/inside
dist_exampleinside_DATA = %D%/examples/inside/sort.c %D%/examples/inside/sparse.c %D%/examples/inside/stencil.c
EXTRA_DIST += %D%/bench/gpu-h100.json %D%/bench/gpu-h200-x2.json

examplestrategydir = $(docdir)/examples/strategy
dist_examplestrategy_DATA = %D%/examples/strategy/Makefile %D%/examples/strategy/climb.c
dist_examplestrategy_SCRIPTS = %D%/examples/strategy/climb.py

exampleprofiledir = $(docdir)/examples/profile
dist_exampleprofile_DATA = %D%/examples/profile/Makefile %D%/examples/profile/transpose.c %D%/examples/profile/settings.cc

exampleclusterdir = $(docdir)/examples/cluster
dist_examplecluster_SCRIPTS = %D%/examples/cluster/task_prolog %D%/examples/cluster/job_array

exampleopenmpdir = $(docdir)/examples/openmp
dist_exampleopenmp_DATA = %D%/examples/openmp/Makefile %D%/examples/openmp/mandelbrot.c %D%/examples/openmp/points.c

# `make html`: the documents as a site, with Sphinx.
EXTRA_DIST += %D%/site
html-local:
	$(AM_V_GEN)PATH='$(PYTHON3_PATH)'"$$PATH" python3 -B $(srcdir)/%D%/site/build.py $(srcdir) html $(abs_builddir)/sweetspot$(EXEEXT)
clean-local: html-clean
html-clean:
	rm -rf html html.src
.PHONY: html-clean

examplelauncherdir = $(docdir)/examples/launcher
dist_examplelauncher_DATA = %D%/examples/launcher/Makefile %D%/examples/launcher/saxpy.c %D%/examples/launcher/saxpy.cu \
	%D%/examples/launcher/saxpy.t1.json
