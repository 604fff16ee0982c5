# SPDX-License-Identifier: Apache-2.0
# One Makefile, nothing built in the tree. `make help` says what there is.

O ?= build
CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
PREFIX ?= /usr/local
DESTDIR ?=

# ---- lists: adding a part is one word -----------------------------------------------------------
STAGES := base sense decode attribute record judge live rig report
PROGRAMS := sentineld sentinel sentinel-probe sentinel-collector sentinel-confine
BPF_SRCS := $(wildcard bpf/*.bpf.c)
PROBES := $(filter-out probes/session.c,$(wildcard probes/*.c))
UNIT := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/test_*.c))
BPFTEST := $(patsubst tests/bpf/%.c,%,$(wildcard tests/bpf/test_*.c))
RIGTEST := $(patsubst tests/rig/%.c,%,$(wildcard tests/rig/test_*.c))
RIGSCRIPTS := $(wildcard tests/rig/sabotage-*.sh tests/rig/blame-*.sh tests/rig/life-*.sh tests/rig/probe-*.sh tests/rig/run-*.sh)
GOLDEN := $(wildcard tests/golden/*.sh)
FUZZERS := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
BENCH := $(patsubst tests/bench/%.c,%,$(wildcard tests/bench/*.c))
KERNELS := $(patsubst tests/kernels/%.facts,%,$(wildcard tests/kernels/*.facts))
MAN := $(patsubst user/man/%.scd,%,$(wildcard user/man/*.scd))

# ---- tools and flags ----------------------------------------------------------------------------
# Libraries by pkg-config's names, each with the oldest version that will do.
PKGS := libbpf:1.1 libelf:0.180 zlib:1.2.11 libnl-3.0:3.5 libnl-route-3.0:3.5 json-c:0.15 \
	yaml-0.1:0.2 libcrypto:3.0 libssl:3.0 libpcap:1.10
TEST_PKGS := cmocka:1.1
V ?= 0
ifeq ($(V),0)
Q := @
msg = @printf '  %-8s %s\n' '$(1)' '$(2)';
else
Q :=
msg :=
endif

SAN ?=
OPT := $(if $(DEBUG),-O0 -g3,-O2 -g)
SANFLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all) \
	$(if $(FUZZ),-fsanitize=fuzzer-no-link)
HARDEN := $(if $(SAN)$(DEBUG),,-D_FORTIFY_SOURCE=2) -fstack-protector-strong -fPIE
WARN := -Wall -Wextra -Werror -Wformat=2 -Wshadow -Wundef -Wvla -Wmissing-prototypes \
	-Wstrict-prototypes -Wpointer-arith -Wwrite-strings -fno-common
CPPFLAGS := -I. -I$(O)/gen -D_GNU_SOURCE
CFLAGS := -std=gnu17 $(OPT) $(WARN) $(HARDEN) $(SANFLAGS) $(EXTRA_CFLAGS)
LDFLAGS := -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(SANFLAGS)
# Asked once, and only where something is compiled: by then $(O)/packages says that all are there.
pkg_names = $(foreach p,$(1),$(firstword $(subst :, ,$(p))))
PKG_CFLAGS = $(eval PKG_CFLAGS := $(shell pkg-config --cflags $(call pkg_names,$(PKGS))))$(PKG_CFLAGS)
PKG_LIBS = $(eval PKG_LIBS := $(shell pkg-config --libs $(call pkg_names,$(PKGS))))$(PKG_LIBS)
VERSION := $(shell git describe --always --dirty 2>/dev/null || echo unknown)

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules
.PHONY: all run check check-unit check-bpf check-rig check-golden check-kernels bench mutants fuzz lint format man \
	install clean help deps

all: $(PROGRAMS:%=$(O)/%) man $(O)/policies

# Programs find their policies beside them, wherever $(O) is.
$(O)/policies:
	$(Q)mkdir -p $(O) && ln -sfn $(abspath policies) $@

# ---- what must be installed ---------------------------------------------------------------------
# A line for each library that is missing or too old. The stamps are older than anything built.
define packages_rule
$(O)/$(1): Makefile
	@mkdir -p $$(@D)
	@command -v pkg-config >/dev/null || \
		{ echo "'pkg-config' is missing: scripts/deps.sh installs it" >&2; exit 1; }
	@missing=0; for p in $(2); do \
		pkg-config --exists "$$$${p%:*} >= $$$${p#*:}" && continue; missing=1; \
		echo "'$$$${p%:*}' $$$${p#*:} or later is missing: scripts/deps.sh installs it" >&2; \
	done; exit $$$$missing
	@touch $$@
endef
$(eval $(call packages_rule,packages,$(PKGS)))
$(eval $(call packages_rule,test-packages,$(TEST_PKGS)))

# ---- user space ---------------------------------------------------------------------------------
objs = $(patsubst %.c,$(O)/obj/%.o,$(wildcard $(1)/*.c))
archive = $(O)/lib/$(1).a

define stage_rule
$(O)/lib/$(1).a: $(call objs,user/$(1))
endef
$(foreach s,$(STAGES),$(eval $(call stage_rule,$(s))))
$(O)/lib/probes.a: $(call objs,probes)
$(O)/lib/collector.a: $(call objs,probes/collector)
$(O)/lib/cmd.a: $(call objs,user/cmd) $(O)/obj/probes/manifest.o
$(O)/lib/bpftest.a: $(patsubst %.c,$(O)/obj/%.o,tests/bpf/stage.c tests/bpf/lane.c)

$(O)/lib/%.a:
	$(call msg,AR,$@)
	@mkdir -p $(@D)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

$(call objs,user/sense) $(O)/obj/tests/bpf/stage.o: | $(O)/gen/sentinel.skel.h
$(O)/obj/user/report/html.o: | $(O)/gen/report_css.h
$(O)/obj/%.o: %.c Makefile | $(O)/packages
	$(call msg,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

$(O)/obj/user/sentineld.o $(O)/obj/user/daemon.o $(O)/obj/user/observe.o $(O)/obj/user/sentinel.o: CPPFLAGS += -DSENTINEL_VERSION='"$(VERSION)"'

# The stages in the order in which data flows; each links with those before it.
LIBS = $(foreach s,report rig live judge record attribute decode sense base,$(O)/lib/$(s).a)

$(O)/sentineld: $(O)/obj/user/sentineld.o $(O)/obj/user/daemon.o $(O)/obj/user/observe.o $(O)/obj/user/pipeline.o $(O)/obj/user/queue.o $(LIBS)
$(O)/sentinel: $(O)/obj/user/sentinel.o $(call objs,user/cmd) $(O)/obj/probes/manifest.o $(LIBS)
$(O)/sentineld $(O)/sentinel:
	$(call msg,LINK,$@)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(PKG_LIBS) -pthread

# Probes run in other roots and namespaces, so they bring everything with them. No sanitizer: it
# needs a dynamic loader. --no-warnings: libcrypto could look up names and load modules, for which a
# static program would need the C library's own; nothing here asks it to.
STATIC_CFLAGS := -std=gnu17 -O2 -g $(WARN) -fstack-protector-strong
$(O)/static/%.o: %.c Makefile | $(O)/packages
	$(call msg,CC,$< (static))
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(STATIC_CFLAGS) -MMD -MP -c -o $@ $<

STATIC_BASE := $(patsubst %.c,$(O)/static/%.o,$(wildcard user/base/*.c))
$(O)/sentinel-probe: $(patsubst %.c,$(O)/static/%.o,$(wildcard probes/*.c)) $(STATIC_BASE)
$(O)/sentinel-collector: $(patsubst %.c,$(O)/static/%.o,$(wildcard probes/collector/*.c)) $(STATIC_BASE)
$(O)/sentinel-confine: $(patsubst %.c,$(O)/static/%.o,$(wildcard probes/confine/*.c)) $(STATIC_BASE)
$(O)/sentinel-probe $(O)/sentinel-collector $(O)/sentinel-confine:
	$(call msg,LINK,$@ (static))
	$(Q)$(CC) -static -Wl,--gc-sections -Wl,--no-warnings -o $@ $(filter %.o,$^) \
		-lssl -lcrypto -pthread

# ---- kernel side --------------------------------------------------------------------------------
BPF_CFLAGS := -O2 -g -mcpu=v3 -target bpf -D__TARGET_ARCH_$(subst x86_64,x86,$(subst aarch64,arm64,$(shell uname -m))) \
	-Wall -Wextra -Werror -I. -Ivmlinux -Ibpf -idirafter /usr/include/$(shell uname -m)-linux-gnu

$(O)/bpf/%.bpf.o: bpf/%.bpf.c Makefile
	$(call msg,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -D__bpf__ -MMD -MP -c -o $@ $<

$(O)/sentinel.bpf.o: $(BPF_SRCS:bpf/%.bpf.c=$(O)/bpf/%.bpf.o)
	$(call msg,GEN-OBJ,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(O)/gen/sentinel.skel.h: $(O)/sentinel.bpf.o
	$(call msg,SKEL,$@)
	@mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name sentinel > $@

# ---- the report's style sheet -------------------------------------------------------------------
# As a string, with the digest that the page's content security policy admits it by.
$(O)/gen/report_css.h: user/report/report.css Makefile
	$(call msg,GEN,$@)
	@mkdir -p $(@D)
	$(Q){ printf '#define REPORT_CSS_HASH "sha256-%s"\n' \
		"$$(sha256sum <$< | cut -c1-64 | tr a-f A-F | basenc -d --base16 | base64)"; \
	printf '#define REPORT_CSS \\\n'; \
	sed 's/[\\"]/\\&/g; s/.*/\t"&\\n" \\/' $<; echo; } >$@

# ---- manual pages -------------------------------------------------------------------------------
man: $(MAN:%=$(O)/man/%)
$(O)/man/%: user/man/%.scd
	$(call msg,MAN,$@)
	@mkdir -p $(@D)
	$(Q)scdoc < $< > $@

# ---- tests --------------------------------------------------------------------------------------
# What a unit test links besides itself; base always.
UNIT_LIBS_test_decode := decode
UNIT_LIBS_test_packet := decode
UNIT_LIBS_test_stream := decode
UNIT_LIBS_test_dns := decode
UNIT_LIBS_test_match := judge decode
UNIT_LIBS_test_judge := judge
UNIT_LIBS_test_judge_all := judge
UNIT_LIBS_test_run_judge := judge
UNIT_LIBS_test_correlate := judge decode
UNIT_LIBS_test_forbidden := judge decode
UNIT_LIBS_test_channels := judge decode
UNIT_LIBS_test_canary_call := judge decode
UNIT_LIBS_test_late_log := judge decode
UNIT_LIBS_test_shared := judge decode
UNIT_LIBS_test_resolver_again := judge decode
UNIT_LIBS_test_secrets := judge decode
UNIT_LIBS_test_blame := judge decode
UNIT_LIBS_test_host_credit := judge decode
UNIT_LIBS_test_shared_dest := judge decode
UNIT_LIBS_test_server_name := decode
UNIT_LIBS_test_traffic := live decode
UNIT_LIBS_test_foreign := record
UNIT_LIBS_test_evjson := record
UNIT_LIBS_test_capture := record
UNIT_LIBS_test_message := record
UNIT_LIBS_test_bundle := record
UNIT_LIBS_test_bundle_find := record
UNIT_LIBS_test_hasher := record
UNIT_LIBS_test_sshsig := record
UNIT_LIBS_test_damage := judge record decode
$(O)/test/test_damage: $(O)/obj/user/cmd/judge_bundle.o
UNIT_LIBS_test_helper := rig
UNIT_LIBS_test_target := rig
UNIT_LIBS_test_jobs := rig
UNIT_LIBS_test_probe_file := rig probes
UNIT_LIBS_test_own := probes
UNIT_LIBS_test_destination := rig
UNIT_LIBS_test_folder := rig
UNIT_LIBS_test_farside := rig
UNIT_LIBS_test_report := report judge
UNIT_LIBS_test_expect := report judge
UNIT_LIBS_test_html := report judge
UNIT_LIBS_test_attribute := attribute
UNIT_LIBS_test_layout := sense
UNIT_LIBS_test_cgroup := rig
UNIT_LIBS_test_session := probes
UNIT_LIBS_test_sibling := probes
UNIT_LIBS_test_probes := probes collector
UNIT_LIBS_test_http_client := probes
UNIT_LIBS_test_zone := collector
UNIT_LIBS_test_site := collector
UNIT_LIBS_test_collector := probes collector

UNIT_LIBS_test_dns_ldns := decode
UNIT_LDLIBS_test_dns_ldns = $(shell pkg-config --libs ldns 2>/dev/null)

.SECONDEXPANSION:
# A program of one file with cmocka: $(O)/$(1)/NAME out of $(2)/NAME.c and the archives $(3).
define cmocka_rule
$(O)/$(1)/%: $(2)/%.c $(3) Makefile | $(O)/packages $(O)/test-packages
	$$(call msg,TEST-CC,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(CPPFLAGS) $$(PKG_CFLAGS) $$(CFLAGS) -MMD -MP -MF $$@.d $$(LDFLAGS) -o $$@ $$< $$(filter %.o,$$^) \
		-Wl,--start-group $$(filter %.a,$$^) -Wl,--end-group -lcmocka $$(UNIT_LDLIBS_$$*) \
		$$(PKG_LIBS) -pthread
endef
$(eval $(call cmocka_rule,test,tests/unit,$$$$(foreach s,$$$$(UNIT_LIBS_$$$$*) base,$(O)/lib/$$$$(s).a)))
$(eval $(call cmocka_rule,bpftest,tests/bpf,$(O)/lib/bpftest.a $(LIBS)))
$(eval $(call cmocka_rule,rigtest,tests/rig,$(O)/lib/rig.a $(O)/lib/base.a))
$(eval $(call cmocka_rule,bench,tests/bench,$(foreach s,judge record decode base,$(O)/lib/$(s).a)))

# Run over their corpora by standalone.c, or, where FUZZ is set, by clang's fuzzer (make fuzz).
FUZZ ?=
FUZZ_LIBS := $(LIBS) $(O)/lib/collector.a $(O)/lib/cmd.a
$(O)/fuzz/%: tests/fuzz/%.c $(if $(FUZZ),,tests/fuzz/standalone.c) $(FUZZ_LIBS) Makefile
	$(call msg,FUZZ-CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CPPFLAGS) $(PKG_CFLAGS) $(CFLAGS) -MMD -MP -MF $@.d $(LDFLAGS) \
		$(if $(FUZZ),-fsanitize=fuzzer) -o $@ $(filter %.c,$^) \
		-Wl,--start-group $(filter %.a,$^) -Wl,--end-group $(PKG_LIBS) -pthread

unit: $(UNIT:%=$(O)/test/%)
bpftest: $(BPFTEST:%=$(O)/bpftest/%)
rigtest: $(RIGTEST:%=$(O)/rigtest/%)
fuzzers: $(FUZZERS:%=$(O)/fuzz/%)
benchtools: $(BENCH:%=$(O)/bench/%)
.PHONY: unit bpftest rigtest fuzzers benchtools

# ---- the two commands of the README ----------------------------------------------------------------
# Both set the machine up first; deps.sh does nothing, fast, where all is there.
deps:
	$(Q)scripts/deps.sh

AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo)

# An escape is a result (exit status 1), not a failure of make: the job was done.
run: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)mkdir -p $(O)/runs
	$(Q)$(AS_ROOT) $(O)/sentinel run -o $(O)/runs/$$(date -u +%Y%m%dT%H%M%SZ)-$$$$ || [ $$? -eq 1 ]

# Everything is tested three times: as it ships; user space under ASan and UBSan; and with each guard
# of the judge removed.
SANITIZE := address,undefined
SUBMAKE := $(MAKE) --no-print-directory
# sudo forgets the environment, so that it is set behind it
# What the rig tests record, for scripts/mutants: each guard must be missed by one of them.
BUNDLES := $(abspath $(O)/bundles)
RUN_TESTS := $(AS_ROOT) env BUILD=$(O) MUTANT_BUILD=$(O)/mutant SAN_BUILD=$(O)/san O=$(O) \
	BUNDLES=$(BUNDLES) \
	scripts/run-tests --logs $(O)/logs
RIG_TESTS := $(RIGTEST:%=$(O)/rigtest/%) $(RIGSCRIPTS) scripts/mutants
.PHONY: check-build san-build mutant-build
check-build:
	$(Q)$(SUBMAKE) all unit bpftest rigtest fuzzers benchtools
san-build:
	$(Q)$(SUBMAKE) O=$(O)/san SAN=$(SANITIZE) all unit rigtest fuzzers
mutant-build:
	$(Q)$(SUBMAKE) O=$(O)/mutant EXTRA_CFLAGS=-DSENTINEL_MUTANTS all unit

check: deps
	$(Q)$(SUBMAKE) check-build
	$(Q)$(SUBMAKE) san-build
	$(Q)$(SUBMAKE) mutant-build
	$(Q)$(AS_ROOT) rm -rf $(BUNDLES)
	$(Q)$(RUN_TESTS) \
		--lint \
		--unit $(UNIT:%=$(O)/test/%) \
		--san $(UNIT:%=$(O)/san/test/%) $(FUZZERS:%=$(O)/san/fuzz/%) \
		--bpf $(BPFTEST:%=$(O)/bpftest/%) \
		--fuzz $(FUZZERS:%=$(O)/fuzz/%) \
		--golden $(GOLDEN) \
		--rig $(RIG_TESTS)

# One kind alone, of what is installed already.
check-unit: unit
	$(Q)$(RUN_TESTS) --unit $(UNIT:%=$(O)/test/%)
check-bpf: bpftest
	$(Q)$(RUN_TESTS) --bpf $(BPFTEST:%=$(O)/bpftest/%)
check-golden: all unit benchtools
	$(Q)$(RUN_TESTS) --golden $(GOLDEN)
check-rig: all unit rigtest
	$(Q)$(SUBMAKE) san-build
	$(Q)$(SUBMAKE) mutant-build
	$(Q)$(AS_ROOT) rm -rf $(BUNDLES)
	$(Q)$(RUN_TESTS) --rig $(RIG_TESTS)

# Older kernels, in machines that qemu makes.
check-kernels: all bpftest
	$(Q)$(RUN_TESTS) --kernel $(KERNELS)

# Each fuzzer for a while, by clang's libFuzzer, without what the program itself logs. What it finds
# worth keeping goes to $(O)/libfuzzer/corpus, an input that fails to $(O)/libfuzzer/NAME-*.
FUZZ_SECONDS ?= 60
fuzz:
	$(Q)$(SUBMAKE) O=$(O)/libfuzzer CC=$(CLANG) SAN=$(SANITIZE) FUZZ=1 fuzzers
	$(Q)for f in $(FUZZERS); do \
		echo "  FUZZ     $$f, $(FUZZ_SECONDS) s"; mkdir -p $(O)/libfuzzer/corpus/$$f; \
		$(O)/libfuzzer/fuzz/$$f -max_total_time=$(FUZZ_SECONDS) -verbosity=0 -print_final_stats=1 \
			-timeout=10 -close_fd_mask=2 -artifact_prefix=$(O)/libfuzzer/$$f- \
			$(O)/libfuzzer/corpus/$$f tests/fuzz/corpus/$${f#fuzz_} || exit 1; \
	done

# How fast a replay is, against bounds: what is timed fails on a machine that is busy, so that it is no
# part of `make check`.
bench: all benchtools
	$(Q)O=$(O) tests/bench/replay.sh $(BENCH_PACKETS)

mutants: all
	$(Q)O=$(O) scripts/mutants $(wildcard $(BUNDLES))

lint:
	$(Q)scripts/run-tests --lint

format:
	$(Q)git ls-files -- '*.c' '*.h' | xargs clang-format -i

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/sentinel/policies/targets \
		$(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5 \
		$(DESTDIR)$(PREFIX)/share/man/man8
	install -m 0755 $(PROGRAMS:%=$(O)/%) $(DESTDIR)$(PREFIX)/bin
	install -m 0644 policies/targets/*.yaml $(DESTDIR)$(PREFIX)/share/sentinel/policies/targets
	for page in $(MAN); do install -m 0644 $(O)/man/$$page \
		$(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/; done

help:
	@printf '%s\n' \
		'make run       set up, build, and make the main job: judge the sandboxes of this machine' \
		'make check     set up, build, and run every test but those on older kernels' \
		'make           build into $$O (default build/)' \
		'make check-unit, check-bpf, check-golden, check-rig   one kind of them' \
		'make check-kernels   the kernel side and a run on older kernels, under qemu: about 5 minutes' \
		'make fuzz      each fuzzer for FUZZ_SECONDS (default 60), with clang' \
		'make bench     how fast a replay is, against its bounds: BENCH_PACKETS (default 1000000)' \
		'make mutants   remove each guard of the judge in turn; a test must notice each' \
		'make lint      the checks of the text alone' \
		'make format    lay the code out by .clang-format' \
		'make install   into $$DESTDIR$$PREFIX (default /usr/local)' \
		'make clean     remove $$O' \
		'' \
		'V=1 shows commands; DEBUG=1, SAN=address,undefined, CC=clang, O=DIR change the build'

clean:
	rm -rf $(O)

-include $(shell find $(O) -name '*.d' 2>/dev/null)
