/* SPDX-License-Identifier: GPL-2.0-only */
/* Copyright (c) 2026 The OpenGNI authors */
/* Differences between the kernels that the driver builds for (6.1 and 6.12). */
#ifndef ARIES_COMPAT_H
#define ARIES_COMPAT_H

#include <linux/export.h>
#include <linux/mm.h>
#include <linux/pci.h>
#include <linux/version.h>
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#include <linux/aer.h>
#endif

#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
#define aries_devnode_arg struct device
#else
#define aries_devnode_arg const struct device
#endif

#if KERNEL_VERSION(6, 4, 0) > LINUX_VERSION_CODE
#define aries_class_arg struct class
#define aries_class_attr_arg struct class_attribute
#else
#define aries_class_arg const struct class
#define aries_class_attr_arg const struct class_attribute
#endif

/* The namespace of symbols for clients in the kernel. */
#if KERNEL_VERSION(6, 13, 0) > LINUX_VERSION_CODE
#define EXPORT_SYMBOL_ARIES(symbol) EXPORT_SYMBOL_NS_GPL(symbol, ARIES)
#define ARIES_IMPORT_NS MODULE_IMPORT_NS(ARIES)
#else
#define EXPORT_SYMBOL_ARIES(symbol) EXPORT_SYMBOL_NS_GPL(symbol, "ARIES")
#define ARIES_IMPORT_NS MODULE_IMPORT_NS("ARIES")
#endif

/* From 6.2 on the kernel does this for every function. */
static inline void aries_report_errors(struct pci_dev *pdev)
{
#if KERNEL_VERSION(6, 2, 0) > LINUX_VERSION_CODE
	pci_enable_pcie_error_reporting(pdev);
#endif
}

static inline void aries_vm_flags(struct vm_area_struct *vma, unsigned long set,
				  unsigned long clear)
{
#if KERNEL_VERSION(6, 3, 0) > LINUX_VERSION_CODE
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
#else
	vm_flags_mod(vma, set, clear);
#endif
}

#endif /* ARIES_COMPAT_H */
