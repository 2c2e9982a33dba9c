# SPDX-License-Identifier: GPL-2.0-or-later
"""The test registers, interrupts and DMA."""

from aries import BAR, MSIX_TABLE, FabricCase
from qtest import wait_until

FILL, CLEAR, INVERT = 1, 2, 3
BUFFER = 0x210000


class Interrupts(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic()

    def test_each_vector(self):
        self.dev.enable_msix()
        for vector in range(16):
            self.dev.set("TEST_IRQ", vector)
            self.assertEqual(wait_until(self.dev.vectors, 2), [vector])

    def test_no_such_vector(self):
        self.dev.enable_msix()
        for vector in (16, 255):
            self.dev.set("TEST_IRQ", vector)
        self.assertEqual(self.dev.vectors(), [])
        self.assertTrue(self.dev.qemu.alive())

    def test_masked_vector_waits(self):
        self.dev.enable_msix()
        control = BAR[0] + MSIX_TABLE + 16 * 7 + 12
        self.dev.qemu.store(control, 4, 1)
        self.dev.set("TEST_IRQ", 7)
        self.assertEqual(self.dev.vectors(), [])
        self.assertEqual(self.dev.qemu.load(BAR[0] + 0x81000, 8), 1 << 7, "pending bit")
        self.dev.qemu.store(control, 4, 0)
        self.assertEqual(wait_until(self.dev.vectors, 2), [7])
        self.assertEqual(self.dev.qemu.load(BAR[0] + 0x81000, 8), 0)

    def test_msix_off_loses_the_message(self):
        self.dev.set("TEST_IRQ", 3)
        self.dev.enable_msix()
        self.assertEqual(self.dev.vectors(), [])

    def test_bus_master_off(self):
        self.dev.enable_msix()
        self.dev.config_store(0x04, 2, 2)
        self.dev.set("TEST_IRQ", 3)
        self.assertEqual(self.dev.vectors(), [])


class Dma(FabricCase):
    def setUp(self):
        super().setUp()
        self.dev = self.nic()
        self.dev.enable_msix()

    def run_dma(self, operation, address, size):
        self.dev.set("TEST_DMA_ADDR", address)
        self.dev.set("TEST_DMA_SIZE", size)
        self.dev.set("TEST_DMA_CTRL", operation)
        self.assertEqual(wait_until(self.dev.vectors, 2), [0])
        return self.dev.get("TEST_DMA_STATUS")

    def test_fill_clear_invert_at_alignments(self):
        q = self.dev.qemu
        for shift in range(8):
            for size in (1, 7, 64, 4096, 65536):
                with self.subTest(shift=shift, size=size):
                    at = BUFFER + shift
                    q.write(BUFFER - 16, b"\xee" * (size + 64))
                    for operation, byte in ((FILL, 0x96), (INVERT, 0x69), (CLEAR, 0)):
                        self.assertEqual(self.run_dma(operation, at, size), 0)
                        self.assertEqual(q.read(at, size), bytes([byte]) * size)
                    self.assertEqual(q.read(BUFFER - 16, 16 + shift), b"\xee" * (16 + shift), "bytes before")
                    self.assertEqual(q.read(at + size, 8), b"\xee" * 8, "bytes behind")

    def test_where_no_memory_is(self):
        legacy = (0xA0000, 0xB8000, 0xC0000, 0xFF000, 0xA0000 - 2048)  # firmware's, whatever is mapped there
        for address in (0x8000000, 0xFFFFFFFFFFFFF000, BAR[0], BAR[4], 64 << 20, (64 << 20) - 2048, *legacy):
            with self.subTest(address=hex(address)):
                self.assertNotEqual(self.run_dma(FILL, address, 4096), 0)
        for address in (0xA0000 - 4096, 0x100000):
            self.assertEqual(self.run_dma(FILL, address, 4096), 0, hex(address))
        self.assertTrue(self.dev.qemu.alive())

    def test_bus_master_off_moves_nothing(self):
        self.dev.qemu.write(BUFFER, b"\xee" * 64)
        self.dev.set("TEST_DMA_ADDR", BUFFER)
        self.dev.set("TEST_DMA_SIZE", 64)
        self.dev.config_store(0x04, 2, 2)
        self.dev.set("TEST_DMA_CTRL", FILL)
        self.assertNotEqual(self.dev.get("TEST_DMA_STATUS"), 0)
        self.assertEqual(self.dev.qemu.read(BUFFER, 64), b"\xee" * 64)
        self.dev.config_store(0x04, 2, 6)
        self.assertEqual(self.run_dma(FILL, BUFFER, 64), 0)

    def test_too_long(self):
        errors = self.dev.counter("GUEST_ERRORS")
        self.dev.set("TEST_DMA_ADDR", BUFFER)
        self.dev.set("TEST_DMA_SIZE", 65537)
        self.dev.set("TEST_DMA_CTRL", FILL)
        self.assertTrue(self.dev.counter("GUEST_ERRORS") > errors or self.dev.get("TEST_DMA_STATUS"))
        self.assertEqual(self.dev.qemu.read(BUFFER + 65536, 1), b"\0")
