/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copyright (c) 2026 The OpenGNI authors */
/*
 * The PCI function: identity, capabilities, BARs, reset, life cycle.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/main-loop.h"
#include "qemu/memalign.h"
#include "qemu/module.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_aer.h"
#include "hw/pci/pcie_port.h"
#include "hw/pci/pcie_regs.h"
#include "aries-nic.h"
#include "trace.h"

/* Gen3 x16 (P20), less if the slot is narrower or slower. */
static void aries_link_init(PCIDevice *pci)
{
    PCIESlot *slot = (PCIESlot *)object_dynamic_cast(OBJECT(pci_bridge_get_device(pci_get_bus(pci))), TYPE_PCIE_SLOT);
    uint8_t *exp = pci->config + pci->exp.exp_cap;
    unsigned speed = QEMU_PCI_EXP_LNK_8GT, width = QEMU_PCI_EXP_LNK_X16;

    pci_long_test_and_clear_mask(exp + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_MLW | PCI_EXP_LNKCAP_SLS);
    pci_long_test_and_set_mask(exp + PCI_EXP_LNKCAP, QEMU_PCI_EXP_LNKCAP_MLW(QEMU_PCI_EXP_LNK_X16) |
                                                         QEMU_PCI_EXP_LNKCAP_MLS(QEMU_PCI_EXP_LNK_8GT));
    pci_set_long(exp + PCI_EXP_LNKCAP2,
                 PCI_EXP_LNKCAP2_SLS_2_5GB | PCI_EXP_LNKCAP2_SLS_5_0GB | PCI_EXP_LNKCAP2_SLS_8_0GB);
    pci_set_word(exp + PCI_EXP_LNKCTL2, QEMU_PCI_EXP_LNKCAP_MLS(QEMU_PCI_EXP_LNK_8GT));
    if (slot) {
        speed = MIN(speed, slot->speed);
        width = MIN(width, slot->width);
    }
    pci_set_word(exp + PCI_EXP_LNKSTA, QEMU_PCI_EXP_LNKSTA_NLW(width) | QEMU_PCI_EXP_LNKSTA_CLS(speed));
}

static bool aries_pm_init(PCIDevice *pci, Error **errp)
{
    int pos = pci_add_capability(pci, PCI_CAP_ID_PM, ARIES_CFG_PM, PCI_PM_SIZEOF, errp);

    if (pos < 0) {
        return false;
    }
    pci_set_word(pci->config + pos + PCI_PM_PMC, 3); /* version 1.2 */
    pci_set_word(pci->config + pos + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET);
    pci_set_word(pci->wmask + pos + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
    return true;
}

static bool aries_msix_init(AriesNic *s, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);

    if (msix_init(pci, ARIES_MSIX_VECTORS, &s->regs, ARIES_BAR_REGS, ARIES_MSIX_TABLE, &s->regs, ARIES_BAR_REGS,
                  ARIES_MSIX_PBA, ARIES_CFG_MSIX, errp) < 0) {
        return false;
    }
    for (unsigned i = 0; i < ARIES_MSIX_VECTORS; i++) {
        msix_vector_use(pci, i);
    }
    return true;
}

/*
 * Serial number in the form of a locally administered EUI-64: 02, hash of the
 * fabric's path, node. Stable over restarts, different for every NIC.
 */
static uint64_t aries_serial(const char *fabric, uint32_t node)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (const char *p = fabric; *p; p++) {
        hash = (hash ^ (uint8_t)*p) * 16777619u;
    }
    return (0x02ull << 56) | ((uint64_t)hash << 24) | node;
}

static bool aries_caps_init(AriesNic *s, const char *fabric, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(s);

    if (!aries_pm_init(pci, errp) || !aries_msix_init(s, errp)) {
        return false;
    }
    if (pcie_endpoint_cap_init(pci, ARIES_CFG_EXP) < 0) {
        error_setg(errp, "no room for the PCI Express capability");
        return false;
    }
    pcie_cap_deverr_init(pci);
    pcie_cap_lnkctl_init(pci);
    pcie_cap_flr_init(pci);
    aries_link_init(pci);
    if (pcie_aer_init(pci, PCI_ERR_VER, ARIES_CFG_AER, PCI_ERR_SIZEOF, errp) < 0) {
        return false;
    }
    pcie_dev_ser_num_init(pci, ARIES_CFG_DSN, aries_serial(fabric, s->node));
    return true;
}

/*
 * The descriptor areas are our own allocation: it has to outlive the memory
 * region, because transfers in flight write status words there until the NIC
 * is destroyed.
 */
static void aries_bars_init(AriesNic *s)
{
    PCIDevice *pci = PCI_DEVICE(s);
    Object *obj = OBJECT(s);

    s->desc_area = qemu_memalign(qemu_real_host_page_size(), ARIES_BAR_DESC_SIZE);
    memset(s->desc_area, 0, ARIES_BAR_DESC_SIZE);
    memory_region_init_io(&s->regs, obj, &aries_regs_ops, s, "aries-regs", ARIES_BAR_REGS_SIZE);
    memory_region_init_io(&s->fma, obj, &aries_fma_ops, s, "aries-fma", ARIES_BAR_FMA_SIZE);
    memory_region_init_ram_ptr(&s->desc, obj, "aries-desc", ARIES_BAR_DESC_SIZE, s->desc_area);
    memory_region_enable_lockless_io(&s->regs);
    memory_region_enable_lockless_io(&s->fma);
    pci_register_bar(pci, ARIES_BAR_REGS, PCI_BASE_ADDRESS_MEM_TYPE_64, &s->regs);
    pci_register_bar(pci, ARIES_BAR_FMA, PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH, &s->fma);
    pci_register_bar(pci, ARIES_BAR_DESC, PCI_BASE_ADDRESS_MEM_TYPE_64 | PCI_BASE_ADDRESS_MEM_PREFETCH, &s->desc);
}

static bool aries_join(AriesNic *s, const char *fabric, Error **errp)
{
    struct aries_config cfg = {
        .api_version = ARIES_MODEL_API_VERSION,
        .node = s->node,
        .nodes = s->nodes,
        .routers_per_chassis = s->routers_per_chassis,
        .chassis_per_group = s->chassis_per_group,
        .lease_ms = s->lease_ms,
        .machine_nodes = s->machine_nodes,
        .place = s->place + 1,
        .polled = s->polled,
        .fabric = fabric,
        .desc_area = s->desc_area,
    };
    char err[256] = "";

    s->nic = aries_nic_create(&cfg, &aries_host_ops, s, err, sizeof(err));
    if (!s->nic) {
        trace_aries_err_create(s->node, err);
        error_setg(errp, "%s", err);
        return false;
    }
    return aries_ram_publish(s, errp) && aries_props_apply_faults(s, errp) && aries_time_apply(s, errp) &&
           aries_props_start_trace(s, errp);
}

static bool aries_migration_block(AriesNic *s, Error **errp)
{
    /*
     * A blocker and not an unmigratable vmstate: its text is what migrate, savevm
     * and -only-migratable show.
     */
    error_setg(&s->blocker, "aries-nic cannot be migrated: its peers hold mappings of this guest's memory");
    return aries_block_migration(&s->blocker, errp);
}

static void aries_exit(PCIDevice *pci)
{
    AriesNic *s = ARIES_NIC(pci);

    trace_aries_exit(s->node);
    if (s->live) {
        aries_nic_set_bus_master(s->nic, false);
        aries_nic_reset(s->nic);
    }
    aries_host_stop(s);
    aries_ram_stop(s);
    aries_unblock_migration(&s->blocker);
    if (pci->exp.aer_cap) {
        pcie_aer_exit(pci);
    }
    if (pci->exp.exp_cap) {
        pcie_cap_exit(pci);
    }
    if (msix_present(pci)) {
        msix_uninit(pci, &s->regs, &s->regs);
    }
}

static void aries_realize(PCIDevice *pci, Error **errp)
{
    AriesNic *s = ARIES_NIC(pci);
    g_autofree char *fabric = aries_props_fabric_path(s, errp);

    if (!fabric || !aries_props_check(s, errp)) {
        return;
    }
    if (pci_device_iommu_address_space(pci) != &address_space_memory) {
        error_setg(errp, "aries-nic does not work behind an emulated IOMMU; leave the IOMMU out or set "
                         "bypass_iommu=on on its bus");
        return;
    }
    aries_bars_init(s);
    s->irq_bh = qemu_bh_new(aries_irq_bh, s);
    aries_host_init(s);
    if (!aries_caps_init(s, fabric, errp) || !aries_ram_start(s, errp) || !aries_migration_block(s, errp) ||
        !aries_join(s, fabric, errp)) {
        aries_exit(pci);
        return;
    }
    aries_host_start(s);
    aries_props_add_state(s);
    trace_aries_realize(s->node, s->nodes, fabric);
}

/* Runs when no vCPU can be in a callback any more. */
static void aries_finalize(Object *obj)
{
    AriesNic *s = ARIES_NIC(obj);

    if (s->nic) {
        aries_nic_destroy(s->nic);
    }
    timer_free(s->alarm);
    if (s->irq_bh) {
        qemu_bh_delete(s->irq_bh);
    }
    qemu_vfree(s->desc_area);
    g_free(s->fabric);
    g_free(s->trace_file);
    g_free(s->background);
}

/** Whether the function may send requests on the bus: mastering is on, and it has power (D0). */
bool aries_may_master(AriesNic *s)
{
    const uint8_t *config = PCI_DEVICE(s)->config;

    return pci_get_word(config + PCI_COMMAND) & PCI_COMMAND_MASTER &&
           !(pci_get_word(config + ARIES_CFG_PM + PCI_PM_CTRL) & PCI_PM_CTRL_STATE_MASK);
}

static void aries_bus_master(AriesNic *s)
{
    bool on = aries_may_master(s);

    trace_aries_bus_master(s->node, on);
    aries_nic_set_bus_master(s->nic, on);
}

/** Whether a reset is over: nobody is left in an access to guest memory that began before it. Iothread lock. */
bool aries_ready(AriesNic *s)
{
    if (s->unready && aries_nic_drained(s->nic)) {
        s->unready = false;
    }
    return !s->unready;
}

/* A function that is not ready after a reset does not answer; its software tries again. */
static uint32_t aries_config_read(PCIDevice *pci, uint32_t addr, int len)
{
    AriesNic *s = ARIES_NIC(pci);
    uint8_t *status = pci->config + ARIES_CFG_EXP + PCI_EXP_DEVSTA;

    if (s->live && !aries_ready(s)) {
        return UINT32_MAX >> (32 - 8 * len);
    }
    if (s->live && ranges_overlap(addr, len, ARIES_CFG_EXP + PCI_EXP_DEVSTA, 2)) {
        if (aries_nic_drained(s->nic)) {
            pci_word_test_and_clear_mask(status, PCI_EXP_DEVSTA_TRPND);
        } else {
            pci_word_test_and_set_mask(status, PCI_EXP_DEVSTA_TRPND);
        }
    }
    return pci_default_read_config(pci, addr, len);
}

static void aries_config_write(PCIDevice *pci, uint32_t addr, uint32_t val, int len)
{
    AriesNic *s = ARIES_NIC(pci);

    if (s->live && !aries_ready(s)) {
        return;
    }
    pci_default_write_config(pci, addr, val, len);
    pcie_aer_write_config(pci, addr, val, len);
    if (range_covers_byte(addr, len, PCI_COMMAND) || range_covers_byte(addr, len, ARIES_CFG_PM + PCI_PM_CTRL)) {
        aries_bus_master(s);
    }
    pcie_cap_flr_write_config(pci, addr, val, len);
}

/* System reset, bus reset and function level reset. PCI clears its own part: command, BARs, MSI-X. */
static void aries_reset(DeviceState *dev)
{
    AriesNic *s = ARIES_NIC(dev);
    PCIDevice *pci = PCI_DEVICE(dev);

    trace_aries_reset(s->node);
    aries_nic_set_bus_master(s->nic, false);
    aries_nic_reset(s->nic);
    s->unready = !aries_nic_drained(s->nic);
    /* Whoever has the function next must not find what processes left there. */
    memset(s->desc_area, 0, ARIES_BAR_DESC_SIZE);
    qatomic_set(&s->irq_pending, 0);
    pcie_cap_deverr_reset(pci);
    pcie_cap_lnkctl_reset(pci);
    pci_word_test_and_clear_mask(pci->config + ARIES_CFG_PM + PCI_PM_CTRL, PCI_PM_CTRL_STATE_MASK);
}

static void aries_init(Object *obj)
{
    ARIES_NIC(obj)->place = ARIES_PLACE_OF_NODE;
}

static void aries_class_init(ObjectClass *klass, AriesClassData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(klass);

    pc->realize = aries_realize;
    pc->exit = aries_exit;
    pc->config_read = aries_config_read;
    pc->config_write = aries_config_write;
    pc->vendor_id = ARIES_PCI_VENDOR;
    pc->device_id = ARIES_PCI_DEVICE;
    pc->revision = ARIES_PCI_REVISION;
    pc->class_id = ARIES_PCI_CLASS;
    pc->subsystem_vendor_id = ARIES_PCI_VENDOR;
    pc->subsystem_id = ARIES_PCI_DEVICE;
    dc->desc = "Aries network interface (Cray XC)";
    device_class_set_legacy_reset(dc, aries_reset);
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
    aries_props_class_init(klass);
}

static const TypeInfo aries_info = {
    .name = TYPE_ARIES_NIC,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(AriesNic),
    .instance_init = aries_init,
    .instance_finalize = aries_finalize,
    .class_init = aries_class_init,
    .interfaces =
        (InterfaceInfo[]){
            {INTERFACE_PCIE_DEVICE},
            {},
        },
};

static void aries_register(void)
{
    type_register_static(&aries_info);
}

type_init(aries_register)
