# SPDX-License-Identifier: GPL-3.0-or-later
# A cluster of two nodes, n1 and n2, on this machine: slurmctld, two slurmd and munged of its own, all in one folder and on
# ports of its own. Source it: `cluster_missing` prints why there can be none (nothing: there can), `cluster_start FOLDER`,
# `cluster_stop`. Who starts it stops it: put cluster_stop in a trap. CLUSTER_LINES: more lines of slurm.conf.
PATH=$PATH:/usr/sbin:/sbin
cluster=
# three ports a cluster: tests that start together have neighbouring process numbers
cluster_port=$((10000 + $$ * 3 % 21000))

cluster_missing() {
	for tool in slurmctld slurmd munged srun scontrol squeue scancel; do
		command -v $tool >/dev/null || { echo "there is no $tool here"; return; }
	done
	[ "$(id -u)" = 0 ] || echo "slurmd wants to be root"
}

# Two slurmd on one machine (-N) need a Slurm that was built for several daemons a host, as Debian's is.
cluster_conf() {
	cat <<-C
	ClusterName=sweetspot
	SlurmctldHost=$(hostname)(127.0.0.1)
	SlurmctldPort=$cluster_port
	SlurmUser=root
	SlurmdUser=root
	AuthType=auth/munge
	AuthInfo=socket=$cluster/munge.socket
	CredType=cred/munge
	StateSaveLocation=$cluster/state
	SlurmdSpoolDir=$cluster/spool/%n
	SlurmctldPidFile=$cluster/slurmctld.pid
	SlurmdPidFile=$cluster/slurmd-%n.pid
	SlurmctldLogFile=$cluster/slurmctld.log
	SlurmdLogFile=$cluster/slurmd-%n.log
	ProctrackType=proctrack/linuxproc
	TaskPlugin=task/none
	SelectType=select/cons_tres
	MpiDefault=none
	ReturnToService=2
	SchedulerParameters=sched_interval=2,bf_interval=2,sched_min_interval=100000
	KillWait=5
	MessageTimeout=100
	NodeName=n[1-2] NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=[$((cluster_port + 1))-$((cluster_port + 2))] CPUs=${CLUSTER_CPUS:-1} RealMemory=500 State=UNKNOWN
	PartitionName=p Nodes=ALL Default=YES MaxTime=INFINITE State=UP
	${CLUSTER_LINES:-}
	C
}

cluster_start() {
	cluster=$1
	mkdir -p "$cluster/state" "$cluster/spool/n1" "$cluster/spool/n2"
	chmod 755 "$cluster"
	export SLURM_CONF=$cluster/slurm.conf
	cluster_conf >"$SLURM_CONF"
	head -c 1024 /dev/urandom >"$cluster/munge.key" && chmod 600 "$cluster/munge.key"
	munged --force --key-file="$cluster/munge.key" --socket="$cluster/munge.socket" --pid-file="$cluster/munged.pid" \
		--log-file="$cluster/munged.log" --seed-file="$cluster/munge.seed" || return 1
	slurmctld && slurmd -N n1 && slurmd -N n2 || return 1
	for wait in $(seq 1200); do
		sleep 0.1
		[ "$(timeout 10 sinfo -h -t idle -o %D 2>/dev/null)" = 2 ] && return 0
		[ -s "$cluster/slurmctld.pid" ] && ! kill -0 "$(cat "$cluster/slurmctld.pid")" 2>/dev/null && break
	done
	tail -n 1 "$cluster/slurmctld.log"
	return 1
}

cluster_stop() {
	[ -n "$cluster" ] || return 0
	scancel -u root 2>/dev/null
	for name in slurmd-n1 slurmd-n2 slurmctld munged; do
		[ -s "$cluster/$name.pid" ] && kill "$(cat "$cluster/$name.pid")" 2>/dev/null
	done
	sleep 1
	cluster=
}
