# SPDX-License-Identifier: GPL-2.0-or-later
# Copyright (c) 2026 The OpenGNI authors
# OpenGNI: everything starts here; 'make help' lists the targets.
#
# Variables: KERNEL=6.1|6.12 guest kernel (6.12 on Debian 13, 6.8 on Ubuntu 24.04), KDIR=DIR a kernel of yours that is built
# there instead, QEMU=7.2|10, V=1 show all output, JOBS=N compilations at a time, OVERLAY=DIR files of yours for the guest,
# OPENGNI_BUILD=DIR place for everything built, NODES=N for run,
# MPI=1 aries-sim-mpi, too, PLOT=1 drawings of bench, PAGE=NAME for doc-page,
# DESTDIR= and prefix= for install.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.NOTPARALLEL:
.SUFFIXES:

TOP := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
OPENGNI_BUILD ?= $(TOP)/.build
ifdef KDIR
override KDIR := $(abspath $(KDIR))
override KERNEL := own
endif
ifndef KERNEL
KERNEL := $(shell bash -c '. $(TOP)/scripts/lib.sh; default_kernel')
endif
QEMU ?= 7.2
$(if $(filter 7.2 10,$(QEMU)),,$(error there is no QEMU '$(QEMU)' to build: QEMU=7.2 or QEMU=10))
JOBS ?= $(shell nproc)
NODES ?= 2
prefix ?= /usr/local
B := $(OPENGNI_BUILD)
QEMU_DIR := $(if $(filter 7.2,$(QEMU)),$(B)/qemu,$(B)/qemu-$(QEMU))
export OPENGNI_BUILD KERNEL QEMU JOBS V

VERSION = $(shell $(TOP)/scripts/version.sh)
OTHER_KERNEL = $(shell bash -c '. $(TOP)/scripts/lib.sh; other_kernel $(KERNEL)')
KREL = $(shell cat $(B)/kernel-$(KERNEL)/release 2>/dev/null)
# What modules are built against; of a kernel of one's own, its symbols count as well.
MODULE_KERNEL = $(if $(KDIR),KDIR=$(KDIR),KVER=$(KREL))
KERNEL_INPUTS = $(addprefix -i ,$(wildcard $(addprefix $(KDIR)/,.config Module.symvers)))
MODULE = $(B)/driver-$(KREL)/aries.ko
KGNI = $(B)/kgni-$(KREL)/kgni.ko
KRCA = $(B)/kgni-$(KREL)/krca.ko
KGNI_CLIENTS = $(B)/kgni-$(KREL)/clients
TEST_MODULES = $(B)/driver-$(KREL)/aries_kapi_test.ko $(addprefix $(B)/kgni-$(KREL)/,kgni_test.ko krca_test.ko)
IMAGE := $(B)/initramfs-$(KERNEL).cpio
SSH_IMAGE := $(B)/initramfs-ssh-$(KERNEL).cpio
NET_IMAGE := $(B)/initramfs-net-$(KERNEL).cpio
CHECK_IMAGE := $(B)/initramfs-check-$(KERNEL).cpio
DEBIAN_IMAGE := $(B)/debian-12-$(KERNEL).qcow2
CHECK_GOALS := check check-all check-image net-image selftests linux-source lint all
# They build tests for guests, and need what those need, not what tests of this machine do.
GUEST_GOALS := bench-kernel chaos
# What each goal needs beside what every build does; selftests/tool/test_goals.py compares it with the steps that lead to it.
SETUP_EXTRA := $(if $(filter $(GUEST_GOALS),$(MAKECMDGOALS)),guests) $(if $(filter lint format,$(MAKECMDGOALS)),lint) $(if $(filter $(CHECK_GOALS),$(MAKECMDGOALS)),tests) \
	$(if $(filter interop,$(MAKECMDGOALS)),interop $(if $(LUSTRE),lustre)) $(if $(filter check-debug,$(MAKECMDGOALS)),tests debug) \
	$(if $(MPI)$(filter check-all,$(MAKECMDGOALS)),mpi) \
	$(if $(filter figures,$(MAKECMDGOALS))$(and $(filter bench,$(MAKECMDGOALS)),$(PLOT)),figures) $(if $(filter doc doc-page man completion install deb debian-image $(CHECK_GOALS),$(MAKECMDGOALS)),doc) \
	$(if $(filter deb debian-image check-all,$(MAKECMDGOALS)),deb) $(if $(filter debian-image check-all,$(MAKECMDGOALS)),image) \
	$(if $(filter-out 7.2,$(QEMU)),qemu$(QEMU))

# Steps in the order in which they are done, and where each is in the row.
RUN_STEPS := setup kernel qemu driver kgni userlib agent initramfs
CHECK_STEPS := setup kernel model qemu driver kgni userlib agent initramfs topo sim linux-source selftests check-image
INSTALL_STEPS := setup kernel model qemu driver kgni userlib agent initramfs topo sim linux-source
DEB_STEPS := $(INSTALL_STEPS) deb
GUEST_STEPS := $(RUN_STEPS) linux-source selftests $(if $(filter chaos,$(MAKECMDGOALS)),check-image,net-image)
DOC_STEPS := setup model qemu topo sim userlib agent linux-source
DEBUG_STEPS := setup model qemu topo userlib agent linux-source
STEPS := $(if $(filter $(CHECK_GOALS),$(MAKECMDGOALS)),$(CHECK_STEPS),$(if $(filter check-debug,$(MAKECMDGOALS)),$(DEBUG_STEPS),$(if $(filter debian-image,$(MAKECMDGOALS)),$(DEB_STEPS) debian-image,\
	$(if $(filter deb,$(MAKECMDGOALS)),$(DEB_STEPS),$(if $(filter install,$(MAKECMDGOALS)),$(INSTALL_STEPS),\
	$(if $(filter doc-page,$(MAKECMDGOALS)),setup,$(if $(filter share,$(MAKECMDGOALS)),setup kernel share,$(if $(filter doc man completion,$(MAKECMDGOALS)),$(DOC_STEPS),$(if $(filter $(GUEST_GOALS),$(MAKECMDGOALS)),$(GUEST_STEPS),$(RUN_STEPS))))))))))
position = $(words $(shell for s in $(STEPS); do echo $$s; [ $$s = $(1) ] && break; done))
STEP = @$(TOP)/scripts/step.sh $@ '$(call position,$@)/$(words $(STEPS))'

##@ Use
run: kernel qemu initramfs ## boot 2 nodes (NODES=N), run gni-perf between them, tear down
	@$(TOP)/scripts/cluster run -n $(NODES) --no-label $(if $(V),,-q) -- gni-perf $(ARGS)

shell: kernel qemu initramfs ## boot 2 nodes and give a shell on node 0
	@$(TOP)/scripts/cluster up -n $(NODES) --name make-shell && \
		{ $(TOP)/scripts/cluster shell --name make-shell 0; $(TOP)/scripts/cluster down --name make-shell; }

bench: kernel qemu initramfs ## the job's table beside its floors (BENCH_NODES=8: a barrier, too; BENCH_START=4: the start of a job; PLOT=1: drawings in .build/bench)
	@$(TOP)/scripts/bench.py $(if $(BENCH_NODES),--barrier-nodes=$(BENCH_NODES)) $(if $(BENCH_START),--start-nodes=$(BENCH_START)) $(if $(PLOT),--plot) $(ARGS)

bench-sim: sim ## packets through routers that aries-sim simulates in a second of one CPU
	@$(TOP)/scripts/build-meson.sh $(B)/sim $(TOP)/qemu-device/sim -- tests/bench_hops >/dev/null && $(B)/sim/tests/bench_hops $(ARGS)

figures: sim ## the figures of Documentation/reproductions.md, simulated (ARGS="worst-case --full")
	@$(TOP)/scripts/figures.py $(ARGS)

bench-kernel: kernel qemu initramfs net-image ## kGNI beside libugni, the sample LND beside gni-perf, ipogif beside virtio-net
	@for bench in kgni lnd ipogif; do $(TOP)/scripts/bench-$$bench.py $(ARGS) || exit; done

doc: doc-inputs man ## HTML of the documentation with search, in .build/doc/html
	@$(TOP)/scripts/doc.py html

doc-page: setup ## HTML of one page alone, without tools or QEMU: PAGE=kgni (Documentation/developing.md)
	@[ -n '$(PAGE)' ] || { echo 'make doc-page: name a page: PAGE=kgni' >&2; exit 2; }
	@$(TOP)/scripts/doc.py page $(PAGE)

man: doc-inputs completion ## manual pages of tools, files, device and of every function, in .build/doc/man
	@$(TOP)/scripts/doc.py man

completion: topo sim userlib agent ## completions of bash for the tools, in .build/doc/completion, and for make with ARGS= in this tree, in your home
	@$(TOP)/scripts/doc.py completion $(if $(filter completion,$(MAKECMDGOALS)),make-completion)

##@ Test
check: kernel model qemu initramfs topo sim check-image ## set-up, build, all tests; ends with "N passed, N failed, N skipped"
	@$(TOP)/scripts/check.py $(ARGS)

check-all: kernel model qemu initramfs topo sim check-image net-image ## check, and what is slow (thread sanitizer, eight nodes, the other kernel, the other QEMU)
	@$(if $(OTHER_KERNEL),$(MAKE) --no-print-directory check-image KERNEL=$(OTHER_KERNEL))
	@$(MAKE) --no-print-directory qemu QEMU=$(if $(filter 7.2,$(QEMU)),10,7.2)
	@$(TOP)/scripts/check.py --all $(ARGS)

check-debug: model qemu topo userlib agent linux-source ## the tests of driver, kGNI and clients on a kernel with lockdep, KASAN, kmemleak, fault injection (ARGS=--kcsan: with KCSAN)
	@$(TOP)/scripts/check-driver-debug.sh $(ARGS)

chaos: kernel qemu initramfs check-image ## traffic between four nodes while things are broken at random (ARGS="--seed 7 --rounds 100")
	@$(TOP)/scripts/chaos $(ARGS)

interop: kernel model qemu driver kgni userlib agent ## UCX and Open MPI from Debian's sources, built and run; LUSTRE=DIR ARGS=lustre: LNet (Documentation/interop.md)
	@LUSTRE='$(LUSTRE)' $(TOP)/scripts/interop/run.sh $(ARGS)

lint: setup linux-source ## clang-format, clang-tidy, checkpatch, sparse, shellcheck, kernel-doc, flake8, mypy, reuse
	@$(TOP)/scripts/lint.sh

format: setup ## bring C and C++ sources into the project's form
	@$(TOP)/scripts/lint.sh --fix

##@ Build
all: kernel model qemu initramfs topo sim check-image ## everything that run and check need, aries-topo and aries-sim

setup: ## install missing Debian packages
	$(STEP) packages -a -- $(TOP)/scripts/setup.sh $(SETUP_EXTRA)

kernel: setup ## unpack the guest kernel
	$(STEP) 'guest kernel $(KERNEL)' -a -- $(if $(KDIR),$(TOP)/scripts/own-kernel.sh $(KDIR),$(TOP)/scripts/fetch-kernel.sh)

model: setup ## the hardware model (C++ library)
	$(STEP) model -e '$(OPENGNI_GROUPED)' -i $(TOP)/qemu-device/model -i $(TOP)/driver/include -i $(TOP)/scripts/gen-regs.py \
		-o $(B)/model/libaries-model.a -o $(B)/gen/aries_regs.h -- bash -c \
		'$(TOP)/scripts/gen-regs.py $(TOP)/driver/include/aries_regs.toml $(B)/gen && \
		$(TOP)/scripts/build-meson.sh $(B)/model $(TOP)/qemu-device/model -- libaries-model.a'

topo: model ## aries-topo: machines in files, what they cost and carry (Documentation/topology.md); aries-net, aries-hss: running fabrics (Documentation/aries-net.md, aries-hss.md); aries-gateway: over several hosts (Documentation/gateway-wire.md)
	$(STEP) aries-topo -e '$(VERSION) $(OPENGNI_GROUPED)' -i $(TOP)/qemu-device/model -i $(TOP)/driver/include -i $(TOP)/scripts/gen-regs.py -o $(B)/model/topo/aries-topo -o $(B)/model/net/aries-net -o $(B)/model/hss/aries-hss -o $(B)/model/gateway/aries-gateway \
		-- $(TOP)/scripts/build-meson.sh $(B)/model $(TOP)/qemu-device/model -- topo/aries-topo net/aries-net hss/aries-hss gateway/aries-gateway

sim: setup ## aries-sim: whole machines under traffic, flit by flit (Documentation/simulator.md); MPI=1: aries-sim-mpi, too
	$(STEP) aries-sim -e $(VERSION) -i $(TOP)/qemu-device/sim -i $(TOP)/qemu-device/model -o $(B)/sim/aries-sim $(if $(MPI),-o $(B)/sim/aries-sim-mpi) \
		-- bash -c '$(if $(MPI),[ -e $(B)/sim/aries-sim-mpi ] || rm -f $(B)/sim/build.ninja; )\
		$(TOP)/scripts/build-meson.sh $(B)/sim $(TOP)/qemu-device/sim -- aries-sim $(if $(MPI),aries-sim-mpi)'

# It builds the model itself, unless another tree has this QEMU already.
qemu: setup ## QEMU with the device (QEMU=10: QEMU 10)
	@$(TOP)/scripts/step.sh $(notdir $(QEMU_DIR)) '$(call position,$@)/$(words $(STEPS))' 'QEMU $(QEMU)' -i $(TOP)/qemu-device/qemu -i $(TOP)/qemu-device/patches -i $(TOP)/qemu-device/model \
		$(addprefix -i $(TOP)/,driver/include scripts/build-qemu.sh scripts/qemu-version.sh scripts/gen-regs.py scripts/unity.py) -o $(QEMU_DIR)/bin/qemu-system-x86_64 \
		-- $(TOP)/scripts/build-qemu.sh

# $(call stored,OPTIONS): in front of a command that builds modules: other trees of the user may have what it makes. That for a kernel of
# one's own is not shared: what it depends on is not known here.
stored = $(if $(KDIR),,$(TOP)/scripts/stored.sh $(addprefix -i /usr/src/linux-headers-$(KREL)/,.config Module.symvers) -e $(KREL) $(1) --)

driver: kernel ## aries.ko for the guest kernel
	$(STEP) 'driver for $(KREL)' -i $(TOP)/driver -i $(TOP)/scripts/gen-regs.py $(if $(KDIR),$(KERNEL_INPUTS)) -e '$(KREL)' -o $(MODULE) \
		-- bash -c '$(MAKE) -C $(TOP)/driver $(MODULE_KERNEL) GEN=$(B)/gen gen && $(call stored,-d $(B)/driver-$(KREL) \
		-f aries.ko -f aries_kapi_test.ko -f Module.symvers -f modules.order -i $(TOP)/driver -i $(TOP)/scripts/gen-regs.py) \
		$(MAKE) -j $(JOBS) -C $(TOP)/driver $(MODULE_KERNEL) BUILD=$(B)/driver-$(KREL) GEN=$(B)/gen ARIES_TESTS=m'

kgni: driver ## kgni.ko and krca.ko for the guest kernel
	$(STEP) 'kGNI for $(KREL)' -i $(TOP)/kgni -i $(TOP)/driver -i $(TOP)/scripts/gen-regs.py $(if $(KDIR),$(KERNEL_INPUTS)) -e '$(KREL)' \
		-o $(KGNI) -o $(KRCA) -- $(call stored,-d $(B)/kgni-$(KREL) -f 'k*.ko' -f 'clients/*/*.ko' -f Module.symvers -f modules.order \
		-i $(TOP)/kgni -i $(TOP)/driver -i $(TOP)/scripts/gen-regs.py) \
		$(MAKE) -j $(JOBS) -C $(TOP)/kgni $(MODULE_KERNEL) BUILD=$(B)/kgni-$(KREL) ARIES=$(B)/driver-$(KREL) GEN=$(B)/gen KGNI_TESTS=m

userlib: setup ## libugni and the tools
	$(STEP) 'libugni, tools' -i $(TOP)/userlib -i $(TOP)/driver/gni -i $(TOP)/driver/include -i $(TOP)/scripts/gen-regs.py -i $(TOP)/scripts/unity.py \
		-o $(B)/userlib/libugni.so.0 -o $(B)/stage/usr/bin/gni-perf -- bash -c \
		'$(TOP)/scripts/build-meson.sh $(B)/userlib $(TOP)/userlib -Dprefix=/usr -Dlibdir=lib \
		-Dtests=false && rm -rf $(B)/stage.new && \
		meson install -C $(B)/userlib --no-rebuild --quiet --strip --destdir $(B)/stage.new && \
		rm -rf $(B)/stage && mv $(B)/stage.new $(B)/stage'

tools: userlib ## the same as userlib

agent: setup ## the guest's end of the control channel
	$(STEP) agent -e $(VERSION) -i $(TOP)/scripts/agent -i $(TOP)/userlib/kvs -o $(B)/agent/gni-agent -- \
		$(TOP)/scripts/stored.sh -e $(VERSION) -i $(TOP)/scripts/agent -i $(TOP)/userlib/kvs -d $(B)/agent -f gni-agent \
		-- $(MAKE) -C $(TOP)/scripts/agent OUT=$(B)/agent -j $(JOBS)

IMAGE_INPUTS = -i $(TOP)/scripts/initramfs -i $(TOP)/scripts/mkinitramfs.sh -i $(B)/kernel-$(KERNEL)/release \
	-i $(MODULE) -i $(KGNI) -i $(KRCA) -i $(KGNI_CLIENTS) -i $(B)/stage -i $(B)/agent/gni-agent $(addprefix -i ,$(OVERLAY)) -e '$(OVERLAY)'
IMAGE_CMD = $(TOP)/scripts/mkinitramfs.sh -k $(B)/kernel-$(KERNEL) -m $(MODULE) -m $(KGNI) -m $(KRCA) -m $(KGNI_CLIENTS) -s $(B)/stage $(addprefix -s ,$(OVERLAY))

initramfs: kernel driver kgni userlib agent ## the guest's file system
	$(STEP) 'guest file system' $(IMAGE_INPUTS) -o $(IMAGE) -e $(IMAGE) -- $(IMAGE_CMD) -o $(IMAGE)

ssh-image: kernel driver kgni userlib agent ## the guest's file system with sshd, for scripts/cluster --ssh
	$(STEP) 'guest file system with ssh' $(IMAGE_INPUTS) -i $(TOP)/scripts/guest-ssh.sh -o $(SSH_IMAGE) -e $(SSH_IMAGE) -- bash -c \
		'$(TOP)/scripts/guest-ssh.sh $(B)/ssh/tree && $(IMAGE_CMD) -s $(B)/ssh/tree -o $(SSH_IMAGE)'

net-image: kernel driver kgni userlib agent selftests ## the guest's file system with sshd, iperf3, ethtool and NFS, to use and measure networks
	$(STEP) 'guest file system with NFS' $(IMAGE_INPUTS) -i $(TOP)/scripts/guest-ssh.sh -i $(TOP)/scripts/guest-net.sh -i $(B)/kselftest -o $(NET_IMAGE) -e $(NET_IMAGE) -- bash -c \
		'$(TOP)/scripts/guest-ssh.sh $(B)/ssh/tree && $(TOP)/scripts/guest-net.sh $(B)/net/tree && $(IMAGE_CMD) -s $(B)/ssh/tree -s $(B)/net/tree -n nfsd -n nfsv4 -t $(B)/kselftest -o $(NET_IMAGE)'

NODE_PACKAGES = $(foreach name,libugni0 libugni-companions0 libpmi-opengni0 opengni-tools,$(B)/deb/$(name)_$(VERSION)_amd64.deb) $(B)/deb/opengni-node_$(VERSION)_all.deb
NODE_MODULES = $(MODULE) $(KGNI) $(KRCA) $(KGNI_CLIENTS)

debian-image: deb ## a disk with Debian 12 that is a node, for scripts/cluster --disk (Documentation/nodes.md)
	$(STEP) 'disk with Debian 12' $(addprefix -i $(TOP)/,scripts/debian-image.sh scripts/debian-image scripts/apt-source.sh driver/90-kgni.rules) \
		-i $(B)/kernel-$(KERNEL)/release $(addprefix -i ,$(NODE_MODULES) $(NODE_PACKAGES)) -o $(DEBIAN_IMAGE) -e $(DEBIAN_IMAGE) -- \
		$(TOP)/scripts/debian-image.sh -k $(B)/kernel-$(KERNEL) $(addprefix -m ,$(NODE_MODULES)) $(addprefix -p ,$(NODE_PACKAGES)) -o $(DEBIAN_IMAGE)
	@echo "scripts/cluster up -n 2 --disk $(DEBIAN_IMAGE)"

share: kernel ## modules of the guest kernel for scripts/cluster --share, which Debian's cloud kernels lack (Documentation/developing.md)
	$(STEP) '9p for the guest kernel' -a -- $(TOP)/scripts/share-modules.sh

linux-source: setup ## the kernel's test harness and style checker
	$(STEP) 'test harness' -a -- $(TOP)/scripts/fetch-linux-source.sh

SELFTEST_INPUTS = $(addprefix -i $(TOP)/,selftests/aries selftests/kgni selftests/conformance driver/include userlib/libugni.map userlib/pmi/include \
	userlib/pmi/libpmi.map scripts/build-selftests.sh scripts/gen-regs.py) -i $(B)/linux-source/version

selftests: linux-source userlib ## the tests that run in the guest
	$(STEP) 'guest tests' $(SELFTEST_INPUTS) -o $(B)/kselftest/kselftest-list.txt -- $(TOP)/scripts/stored.sh -d $(B)/kselftest -f '*' \
		$(SELFTEST_INPUTS) -- $(TOP)/scripts/build-selftests.sh

check-image: kernel driver kgni userlib agent selftests ## the guest's file system with the tests in it
	$(STEP) 'guest file system with tests' $(IMAGE_INPUTS) $(addprefix -i ,$(TEST_MODULES)) -i $(TOP)/scripts/guest-ssh.sh -i $(B)/kselftest -o $(CHECK_IMAGE) -e $(CHECK_IMAGE) -- bash -c \
		'$(TOP)/scripts/guest-ssh.sh $(B)/ssh/tree && $(IMAGE_CMD) -s $(B)/ssh/tree -n pktgen -n netconsole $(addprefix -m ,$(TEST_MODULES)) -t $(B)/kselftest -o $(CHECK_IMAGE)'

# What pages are made from, beside the tools: properties of the device, and the kernel's kernel-doc.
doc-inputs: model qemu topo sim userlib agent linux-source

install: kernel model qemu driver kgni userlib agent initramfs topo sim man ## all of it (DESTDIR=, prefix=/usr/local; prefix=$HOME/.local needs no root; Documentation/install.md)
	@$(TOP)/scripts/install.sh '$(DESTDIR)' '$(prefix)'

uninstall: ## remove what install has put there
	@$(TOP)/scripts/install.sh --remove '$(DESTDIR)' '$(prefix)'

DEB_CHANGES = $(B)/deb/opengni_$(VERSION)_amd64.changes

deb: kernel model qemu driver kgni userlib agent initramfs topo sim man ## Debian packages, in .build/deb (Documentation/install.md)
	$(STEP) 'Debian packages' $(addprefix -i $(TOP)/,driver kgni userlib scripts) -i $(B)/qemu/bin/qemu-system-x86_64 \
		-i $(IMAGE) -i $(B)/model/topo/aries-topo -i $(B)/model/net/aries-net -i $(B)/model/hss/aries-hss -i $(B)/model/gateway/aries-gateway \
		-i $(B)/sim/aries-sim -i $(B)/doc/man \
		-o $(DEB_CHANGES) -- $(TOP)/scripts/build-deb.sh
	@$(TOP)/scripts/step.sh deb-documents '$(call position,$@)/$(words $(STEPS))' 'Debian package of documents' $(addprefix -i $(TOP)/,Documentation README.md) \
		-o $(DEB_CHANGES) -- $(TOP)/scripts/build-deb.sh documents
	@ls $(B)/deb/*.deb

##@ Remove
clean: ## remove what was built here; downloads, QEMU's and the kernel's files stay
	@$(TOP)/scripts/cluster clean >/dev/null
	@cd $(B) 2>/dev/null && rm -rf model* sim* userlib* fuzz driver-* share-* agent gen stage stamps doc selftests kselftest initramfs* deb debian-12-* || true

distclean: ## remove everything that is not in the repository
	@$(TOP)/scripts/cluster clean >/dev/null
	@rm -rf $(B)

cache-clean: ## remove what trees of yours share: compiled objects, QEMU, kernels and modules, parts of the kernel's source (~/.cache/opengni)
	@bash -c '. $(TOP)/scripts/lib.sh; rm -rf "$${CACHE:?there is none}"/*'

##@ Help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } /^##@/ { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))
	@printf '\nVariables: KERNEL=6.1|6.12  KDIR=DIR  QEMU=7.2|10  NODES=N  V=1  JOBS=N  MPI=1  PAGE=NAME  ARGS="..."  OVERLAY=DIR  OPENGNI_BUILD=DIR\n'

.PHONY: all agent bench bench-kernel bench-sim cache-clean chaos check check-all check-debug check-image clean completion deb debian-image distclean doc doc-inputs doc-page driver figures format help initramfs install kgni \
	interop kernel lint linux-source man model net-image qemu run selftests setup share shell sim ssh-image tools topo uninstall userlib
