# SPDX-License-Identifier: GPL-2.0-or-later
"""What test_user_pages.py knows of the commands on the pages of Documentation.

A command that is new on a page needs a line here: a step in the order of the page, a test elsewhere that runs it, or the reason
why no test does.
"""

from typing import NamedTuple

from shown import Step, in_guest, on_node, unseen

UP = r"node \d+ up after .* s, Linux"
SHORT = "--warmup 2000 --measure 3000"
JSON = r"(?ms)^\{.*\}$"
# A program that has been started without a launcher: what it says, and that it fails.
ALONE = "scripts/cluster exec --node 0 -- sh -c 'cd /; COMMAND; test $? = 1'"
# What pkg-config finds is that of this tree, as after an installation.
STAGED = "export PKG_CONFIG_SYSROOT_DIR=$PWD/.build/stage PKG_CONFIG_PATH=$PWD/.build/stage/usr/lib/pkgconfig; COMMAND"
PROGRAM = r"printf '#include <gni_pub.h>\nint main(void) { uint32_t v; return GNI_GetVersion(&v); }\n' >prog.c"
HERE = "selftests/cluster/test_user_pages.py"


class Page(NamedTuple):
    """Steps by their commands; commands that a test elsewhere runs, with file and words in it; commands that no test runs, with the
    reason; what has to be in the folder before the first step, as a command."""

    steps: dict = {}
    elsewhere: dict = {}
    not_run: dict = {}
    before: str = "true"


def everything(where, *commands):
    """Commands that one test runs."""
    return dict.fromkeys(commands, where)


TESTED = {
    "cluster": "selftests/cluster/test_cluster_page.py",
    "nodes": "selftests/cluster/test_nodes_page.py",
    "install": "selftests/tool/test_install_page.py",
    "tutorial": "selftests/cluster/test_examples.py",
    "debugging": "selftests/cluster/test_debugging_page.py",
    "developing": "selftests/cluster/test_developing.py",
    "kernel-client": "selftests/cluster/test_kernel_client.py",
    "port-a-client": "selftests/tool/test_port_a_client.py",
}
"""Pages with tests of their own, which know all of their commands."""

PAGES = {
    "jobs": Page({
        "scripts/cluster up -n 4": Step(UP),
        "scripts/aprun -n 8 -N 2 -l pmi-info": Step(r"(?m)^7: .*7"),
        "scripts/cluster down": Step(r"^$"),
        "scripts/cluster up -n 1": unseen(UP),
        "gni-domain create --job=1 --cookie=0x1234567": in_guest(r"PMI_GNI_PTAG=\d+"),
    }),
    "tools": Page({
        "scripts/cluster up -n 2": unseen(UP),
        "gni-info": in_guest(r"(?m)^kgni0$"),
        "gni-info -d 0 --json": in_guest(JSON),
        "gni-info -a": in_guest(r" 0\n"),
        "gni-info watch -i 1": Step(r"kgni0", through="scripts/cluster exec --node 0 -- sh -c 'COMMAND | head -2'"),
        "gni-info env": in_guest(r"UGNI_DEBUG"),
        "gni-domain create --job=1 --cookie=0x1234567": unseen(r"PMI_GNI_PTAG", on_node(0)),
        "gni-domain list": in_guest(r"pinned"),
        "gni-domain list --json": in_guest(r'"holders_known": ?true'),
        "gni-perf": in_guest(r"^", background=True),
        "gni-perf 0": in_guest(r"(?s)smsg.*put-lat.*amo-bw", node=1),
        "cp /usr/libexec/opengni/examples/first-put /program": unseen(r"^$", "scripts/cluster exec -- COMMAND"),
        "gni-trace ./program arguments": Step(r"start it with aprun", through=ALONE),
        "gni-trace -o trace.txt -T -e 'GNI_Post*,GNI_CqGetEvent' ./program": Step(r"got", through="scripts/aprun -n 2 -N 1 COMMAND"),
        "cat /trace.txt": unseen(r"(?s)GNI_PostFma\(.*GNI_CqGetEvent\(.*<\d", on_node(0)),
        "aprun -n 2 -N 1 gni-trace -c ./program": Step(r"(?s)GNI_CdmAttach.*GNI_CdmAttach"),
    }),
    "packet-trace": Page({
        "scripts/cluster up -n 2": unseen(UP),
        "scripts/cluster trace all start traces": Step(r"traces/node1\.pcapng"),
        "scripts/cluster trace all status": Step(r"traces/node1\.pcapng"),
        "scripts/aprun -n 2 -N 1 gni-perf --tests fma-put --iterations 10 --max-size 64": unseen(r"fma-put"),
        "scripts/cluster trace all stop": Step(r"^"),
        """scripts/cluster qmp 0 qom-set '{"path": "/machine/peripheral/nic0", "property": "trace-file", "value": "/tmp/node0.pcapng"}'""": Step(r"^"),
        "scripts/aprun -n 2 -N 1 gni-perf --tests fma-put --iterations 5 --max-size 64": unseen(r"fma-put"),
        """scripts/cluster qmp 0 qom-set '{"path": "/machine/peripheral/nic0", "property": "trace-file", "value": ""}'""": Step(r"^"),
        "tshark -X lua_script:scripts/wireshark/aries.lua -r /tmp/node0.pcapng": Step(r"(?i)put"),
        "mergecap -w all.pcapng node0.pcapng node1.pcapng": Step(r"^$", through="cp traces/* .; COMMAND"),
        "tshark -X lua_script:scripts/wireshark/aries.lua -r all.pcapng -Y 'aries.target == 1'": unseen(r"(?i)put"),
    }, not_run={
        "wireshark -X lua_script:scripts/wireshark/aries.lua /tmp/node0.pcapng": "opens a window; tshark reads the file by the same script",
    }),
    "aries-net": Page({
        "$ scripts/cluster up -n 3 --machine aries:groups=4 --place spread": Step(UP),
        "$ .build/model/net/aries-net show": Step(r"c1-1s2a0n0"),
        "$ .build/model/net/aries-net route 0 2": Step(r"\d+:\d+"),
        "$ .build/model/net/aries-net tiles 96": Step(r"up"),
        "$ .build/model/net/aries-net counters 96 4": Step(r"AR_RTR"),
        "$ .build/model/net/aries-net fail link 96:4": Step(r"^"),
        "$ .build/model/net/aries-net links": Step(r"96:4"),
        "$ .build/model/net/aries-net top --tables 1 --sort out --filter blue": Step(r"REPLAYS/s"),
        "$ .build/model/net/aries-net serve": Step(r"http://127\.0\.0\.1:9418/metrics\?token=[0-9a-f]{32}", through="timeout 3 COMMAND || true"),
    }),
    "aries-hss": Page({
        "$ scripts/cluster up -n 3 --machine aries:groups=4 --place spread": Step(UP),
        "$ .build/model/hss/aries-hss run &": Step(r"^", through="COMMAND sleep 1"),
        "$ .build/model/net/aries-net fail router 96": Step(r"^"),
        "$ .build/model/hss/aries-hss status": Step(r"96", through="sleep 5; COMMAND"),
    }),
    "topology": Page({
        "aries-topo print aries:groups=6,cables_per_pair=12": Step(r"routers: 576"),
        "aries-topo validate machine.yaml": Step(r"all rules kept"),
        "aries-topo svg aries:groups=6 >machine.svg": Step(r"^$"),
        "aries-topo yaml aries:groups=2 >full.yaml": Step(r"^$"),
        "aries-topo cables aries:groups=8 --json": Step(JSON),
        "aries-topo bisection aries:groups=8,bundle_rule=multiples": Step(r"GB/s both ways: 18000\.0"),
        "aries-topo bandwidth aries:groups=241": Step(r"64-byte puts: 7\.5"),
        "aries-topo hops --sources 64 aries:groups=64": Step(r"most hops: 5"),
        "aries-topo places torus:class=1,cabinets=4": Step(r" 191 +c1-0c2s7g1 +x 3 y 5 z 7 +382 383"),
        "aries-topo bisection torus:class=1,cabinets=8,rates=measured": Step(r"GB/s both ways: 1800\.0"),
        "aries-topo print qsnet:nodes=1024": Step(r"8 node switch chassis, 2048 cables, 4 top switch chassis"),
        "aries-topo device --json machine.yaml": Step(JSON),
        "aries-topo builders": Step(r"cables_per_pair"),
    }, before=r"printf 'builder: aries\ngroups: 2\n' >machine.yaml"),
    "time": Page({
        "$ scripts/cluster up -n 3 --machine aries:groups=4 --place 0,1,900 --time-rate 0.001 --hold-completions": Step(UP),
        "$ scripts/cluster exec --node 0,2 -- gni-perf --tests fma-put --sizes 8": Step(r"fma-put"),
        "$ .build/model/net/aries-net time --rate 1 --hold off": Step(r"^"),
        "scripts/cluster down": unseen(r"^$"),
        "$ .build/sim/aries-sim aries groups=64 --traffic uniform --load 0.3 --warmup 1000 --measure 2000 --background busy.csv": Step(r"(?s)\{.*\}"),
        "$ scripts/cluster up -n 2 --machine aries:groups=64 --place random:7 --background busy.csv --time-rate 0.001 --hold-completions": Step(UP),
    }),
    "kvm": Page({
        "scripts/cluster run -n 2 --print-commands | grep -o -- '-accel [a-z]*'": Step(r"-accel (tcg|kvm)"),
        "scripts/cluster up --doorbell polled": Step(UP),
        "cd /sys/class/gni/kgni0/stats; grep . fma_traps fma_polled fma_wakes": in_guest(r"fma_polled:\d"),
    }, elsewhere={
        "make bench": ("selftests/cluster/test_readme.py", "def test_make_bench("),
    }, not_run={
        "OPENGNI_ACCEL=tcg make bench": "where there is no KVM it is make bench",
        "make bench QEMU=10": "takes half an hour; check-all runs a job on QEMU 10",
    }),
    "interop": Page(not_run={
        **everything("needs Debian's sources of UCX and Open MPI, and half an hour; it is a test itself: PASS or FAIL for each check",
                     "make interop", 'make interop ARGS="ratio openmpi"', "make ssh-image OVERLAY=.build/interop/guest",
                     "scripts/cluster up -n 2 --ssh --mem 1G", "scripts/cluster exec -- gni-domain create --job=77 --cookie=19088743",
                     "scripts/cluster shell 0",
                     "export $(gni-domain create --job=77 --cookie=19088743) OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
                     "/opt/openmpi/bin/mpirun --prefix /opt/openmpi --mca pml ob1 --mca btl ugni,self -x PMI_GNI_PTAG -x PMI_GNI_COOKIE"
                     " -host node0,node1 -n 2 hello_c"),
        **everything("needs a tree of Lustre, which is not in Debian", "make interop ARGS=lustre LUSTRE=DIR",
                     'make interop ARGS="lustre --nodes 3 --seconds 60" LUSTRE=DIR'),
    }),
    "hosts": Page(elsewhere={
        **everything((HERE, "def test_hosts("),
                     "cat >hosts <<END\nalpha 10.0.0.1 0-3\nbeta  10.0.0.2 4-7\nEND", "scripts/cluster up --hosts hosts",
                     "scripts/aprun -n 8 -N 1 gni-perf -t smsg,put-lat -s 8", "scripts/cluster down"),
        "salloc -N 4 scripts/cluster run --hosts slurm -n 8 -- gni-perf": ("selftests/cluster/test_launchers.py", "def test_run_in_an_allocation("),
        "srun -N 4 --ntasks-per-node=1 scripts/cluster join -n 8": ("selftests/cluster/test_launchers.py", "def test_join("),
    }),
    "gateway": Page(elsewhere=everything(
        (HERE, "def test_gateway("), "aries-gateway keygen key", "cat >hosts <<END\nalpha 10.0.0.1 0\nbeta  10.0.0.2 1\nEND",
        "aries-gateway run --hosts hosts --self alpha --key key --fabric pair --nodes 4 &",
        "scripts/cluster up -n 1 --nic fabric=pair --nic node=0 --nic nodes=4")),
    "gateway-wire": Page(elsewhere=everything(
        (HERE, "def test_gateway_wire("), "aries-gateway keygen key", "aries-gateway run --hosts hosts --self alpha --key key --echo &",
        "aries-gateway ping --hosts hosts --self beta --key key --to alpha --flight 1000 --count 100000", "aries-gateway status --json")),
    "ipogif": Page({
        "scripts/cluster up -n 2 --net ipogif": Step(UP),
        "scripts/cluster exec --node 0 -- ping -c 3 hsn1": Step(r"3 packets received"),
        "scripts/cluster down": unseen(r"^$"),
        "make net-image": unseen(r"^"),
        "scripts/cluster up -n 2 --net ethernet --initrd .build/initramfs-net-6.1.cpio": unseen(UP),
        "modprobe ipogif && ip addr add 10.128.0.1/16 dev ipogif0 && ip link set ipogif0 up": in_guest(r"^$"),
        "modprobe ipogif && ip addr add 10.128.0.2/16 dev ipogif0 && ip link set ipogif0 up": unseen(r"^$", on_node(1)),
        "mkdir -p /tmp/files && modprobe nfsd && mount -t nfsd none /proc/fs/nfsd": in_guest(r"^$"),
        "exportfs -o rw,fsid=0,no_root_squash,insecure,no_subtree_check 10.128.0.0/16:/tmp/files": in_guest(r"^$"),
        "rpc.nfsd -N 3 -p 2049 4 && rpc.mountd -N 3": in_guest(r"^$"),
        "modprobe nfsv4 && mkdir -p /tmp/mounted": in_guest(r"^$", node=1),
        "mount -i -t nfs4 -o vers=4.2,addr=10.128.0.1,clientaddr=10.128.0.2 10.128.0.1:/ /tmp/mounted": in_guest(r"^$", node=1),
    }),
    "slnd": Page({
        "scripts/cluster up -n 2": unseen(UP),
        "modprobe slnd && modprobe slnd_test": Step(r"^$", through="scripts/cluster exec -- sh -c QUOTED"),
        "cd /sys/kernel/debug; cat slnd_test/peer": in_guest(r"0x1", node=1),
        "echo test=put peer=0x1 bytes=1048576 count=200 window=8 >slnd_test/run; cat slnd_test/result":
            Step(r"\w", through="scripts/cluster exec --node 0 -- sh -c 'cd /sys/kernel/debug; COMMAND'"),
    }),
    "kgni": Page(elsewhere=everything(
        ("selftests/cluster/test_external.py", "def test_documented_way("), "make install",
        'export GNICPPFLAGS="$(pkg-config --cflags cray-gni cray-krca)"'
        ' KBUILD_EXTRA_SYMBOLS="$(pkg-config --define-variable=kernel=$(uname -r) --variable=symvers cray-gni)"',
        "make -C /lib/modules/$(uname -r)/build M=$PWD modules")),
    "driver-abi": Page({
        "make -C driver KVER=6.1.0-56-cloud-amd64": Step(r"aries\.ko", through="COMMAND BUILD=$PWD/driver; ls driver/aries.ko"),
    }),
    "libugni": Page({
        "cc $(pkg-config --cflags cray-ugni) prog.c $(pkg-config --libs cray-ugni)": Step(r"a\.out", through=STAGED + "; ls a.out"),
        "meson setup build userlib -Dprefix=/opt/opengni && ninja -C build && meson install -C build":
            Step(r"/opt/opengni/include/", through="export DESTDIR=$PWD/root; COMMAND; ls root/opt/opengni/include/gni_pub.h"),
    }, before=PROGRAM),
    "conformance": Page({
        "make -C selftests/conformance OUTPUT=/tmp/c KSELFTEST=$kernel/tools/testing/selftests"
        ' GNI_CFLAGS="$(pkg-config --cflags cray-ugni cray-pmi)" GNI_LIBS="$(pkg-config --libs cray-ugni cray-pmi)"':
            Step(r"post_fma", through="kernel=$PWD/.build/linux-source; " + STAGED + "; ls /tmp/c/post_fma; rm -r /tmp/c"),
    }),
    "simulator": Page({
        ".build/sim/aries-sim canonical p=4 a=8 h=4 --operation raw --flits 1 --load 0.2": Step(JSON),
        ".build/sim/aries-sim aries groups=8 --traffic group --load 0.3 --links links.csv": Step(JSON),
        ".build/sim/aries-sim machine.yaml --operation get --bytes 4096": Step(JSON),
        "aries-sim aries groups=8 --job 'nodes: 384, groups: 3, load: 1' --job 'nodes: rest, load: 0.2'": Step(JSON),
        "aries-sim aries groups=2 --job 'nodes: 750, traffic: allreduce, processes: 16'": Step(JSON),
        """aries-sim aries groups=4 --job 'nodes: 750, place: "random:1", traffic: allreduce' --job 'nodes: rest, load: 0.3'""": Step(JSON),
        f"aries-sim sweep aries groups=2 {SHORT} --traffic group --over mode=minimal,adaptive --over load=0.2:1:0.2 --out worst": Step(r"(?s)points left"),
        f"aries-sim sweep aries groups=2 {SHORT} --over fail=none,3000:link:0-5,3000:link:0-5+3000:router:40 --over load=0.2,0.4 --out links":
            Step(r"points left"),
        "aries-sim aries groups=8 --fail 20000:link:0-5 --fail 25000:router:40 --fail 25000:node:7 --repair 28000:router:40": Step(JSON),
        "aries-sim aries groups=8 --lanes 20000:0.35:2": Step(JSON),
        "aries-sim torus x=4 y=8 z=8 --load 0.2": Step(JSON),
        "aries-sim torus class=1 cabinets=4 rates=measured --operation get --bytes 4096": Step(JSON),
        "aries-sim torus x=4 y=8 z=8 --channels 2 --fail 20000:link:0-8 --fail 25000:router:40": Step(JSON),
        "aries-sim torus --parameters": Step(r"bubble=2"),
        "aries-sim clos radix=32 stages=2 --load 0.5": Step(JSON),
        "aries-sim clos radix=16 stages=3 lanes=3 gbit_per_lane=12.5 --mode in-order --operation raw --flits 14": Step(JSON),
        "aries-sim clos radix=8 stages=3 --fail 20000:link:0-32 --fail 25000:router:70": Step(JSON),
        "aries-sim qsnet nodes=1024 --traffic all-to-all --bytes 1024 --load 1": Step(JSON),
        "aries-sim qsnet nodes=128 --bytes 65536 --set pool_buffers=0 --channels 2": Step(JSON),
        "aries-sim qsnet nodes=128 --fail 15000:link:0-8 --repair 20000:link:0-8": Step(JSON),
        "aries-sim qsnet nodes=256 links=2 spread=true --bytes 1024 --load 1 --fail 12000:link:0.3": Step(JSON),
        "aries-sim qsnet nodes=64 --traffic barrier": Step(JSON),
        "aries-sim qsnet nodes=64 --traffic conditional --slow 9:2000": Step(JSON),
        "aries-sim qsnet --parameters": Step(r"pool_buffers=16"),
    }, elsewhere={
        "make sim": ("Makefile", "check: kernel model qemu initramfs topo sim check-image"),
        "scripts/sim-trace.py node0.pcapng node1.pcapng >messages.csv": ("selftests/tool/test_sim_trace.py", "pcapng"),
        "scripts/sim-trace.py traces.otf2 >messages.csv": ("selftests/tool/test_sim_trace.py", "otf2"),
        "mpirun -n 2 .build/sim/aries-sim-mpi aries groups=64 --load 0.2": ("qemu-device/sim/tests/meson.build", "mpi"),
        "OPENGNI_SLOW=1 .build/sim/tests/test_large": ("qemu-device/sim/tests/meson.build", "large"),
    }, not_run={
        "srun --mpi=pmix --nodes=8 --ntasks-per-node=2 --cpus-per-task=8 aries-sim-mpi aries groups=241 --threads 8":
            "needs eight hosts with Slurm and Open MPI",
    }, before=r"printf 'builder: aries\ngroups: 2\n' >machine.yaml"),
    "reproductions": Page({
        "scripts/figures.py --scale=tiny": Step(r"^", through='COMMAND; rm "$(realpath scripts/..)"/Documentation/figures/*-tiny.svg'),
    }, elsewhere=everything(
        ("selftests/tool/test_figures.py", "def test_every_figure("), "make figures ARGS=worst-case", "make figures ARGS=settings"),
       not_run=everything(
        "takes hours; test_figures.py simulates each figure on small machines", "make figures", 'make figures ARGS="all-to-all --full"')),
    "CONTRIBUTING": Page({
        "scripts/lint.sh --quick": Step(r"^", through='cd "$(realpath scripts/..)"; COMMAND'),
    }, elsewhere={
        "make check": ("scripts/check.py", "Run all layers of tests"),
    }, not_run={
        "make lint": "takes half an hour, most of it clang-tidy",
        "make format": "changes this tree",
    }),
}
