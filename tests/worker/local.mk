# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/topology
%C%_topology_SOURCES = %D%/topology.c
%C%_topology_LDADD = libtopo.la libbase.la
TESTS += %D%/topology

check_PROGRAMS += %D%/topology_hostile
%C%_topology_hostile_SOURCES = %D%/topology_hostile.c
%C%_topology_hostile_LDADD = libtopo.la libbase.la
TESTS += %D%/topology_hostile

check_PROGRAMS += %D%/affinity
%C%_affinity_SOURCES = %D%/affinity.c
%C%_affinity_LDADD = libtopo.la libbase.la $(HWLOC_LIBS)
TESTS += %D%/affinity

check_PROGRAMS += %D%/binding
%C%_binding_SOURCES = %D%/binding.c
%C%_binding_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_binding_LDADD = libtopo.la libbase.la
TESTS += %D%/binding

check_PROGRAMS += %D%/counters
%C%_counters_SOURCES = %D%/counters.c
%C%_counters_CFLAGS = $(AM_CFLAGS) $(OPENMP_CFLAGS)
%C%_counters_LDADD = libcounters.la libbase.la
TESTS += %D%/counters

# Recorded with lstopo, then edited: CPUs taken out with holes in their numbers, a cache that not every core has, nothing
# but CPUs.
EXTRA_DIST += %D%/machines/asymmetric.xml %D%/machines/hybrid.xml %D%/machines/bare.xml
