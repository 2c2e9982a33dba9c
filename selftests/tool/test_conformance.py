# SPDX-License-Identifier: GPL-2.0-or-later
"""The conformance tests: each documented return code has a test of its name, or a reason."""

import re
import unittest

from gnitest import conformance

TABLE = "function,code,reason\nGNI_EpBind,SUCCESS,\nGNI_EpBind,ERROR_NOMEM,binding takes no memory\ngni_cq_get_data,VALUE,\n"
GOOD = """
static void bind(struct side *s)
{
	MUST(GNI_EpBind(s->ep, 0, 0));
}

TEST_F(ep, GNI_EpBind__SUCCESS__own_address)
{
	bind(&self->s);
}

TEST(gni_cq_get_data__VALUE__of_a_put)
{
	EXPECT_EQ(1, gni_cq_get_data(1));
}
"""


class Table(unittest.TestCase):
    def test_every_code_has_a_test_or_a_reason(self):
        table = conformance.read_table(conformance.TABLE.read_text(encoding="utf-8"))
        self.assertEqual(conformance.complaints(table, conformance.all_tests()), [])

    def test_the_table_has_every_function(self):
        table = conformance.read_table(conformance.TABLE.read_text(encoding="utf-8"))
        functions = {function for function, _ in table}
        self.assertEqual(len([f for f in functions if f.startswith("GNI_")]), 102)
        self.assertEqual(len([f for f in functions if f.startswith(("gni_cq_", "gni_ce_res_"))]), 30)

    def test_the_header_documents_the_same_codes(self):
        header = (conformance.FOLDER / "../../driver/include/gni_pub.h").read_text(encoding="utf-8")
        documented = set()
        for comment, function in re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s*(?:[\w ]+[ *])(GNI_\w+)\(", header, re.S):
            returns = comment.partition("Return:")[2]
            documented |= {(function, code) for code in re.findall(r"GNI_RC_(\w+)", returns)}
        table = conformance.read_table(conformance.TABLE.read_text(encoding="utf-8"))
        self.assertEqual(documented ^ {key for key in table if key[0].startswith("GNI_")}, set())


class Statements(unittest.TestCase):
    HEAD = "statement,words,tests,reason\n"
    TEST = conformance.Test("S1_1__in_order", "x.c", "")

    def wrong(self, rows):
        return conformance.statement_complaints(self.HEAD + rows, [self.TEST])

    def test_every_statement_has_tests_or_a_reason(self):
        text = conformance.STATEMENTS.read_text(encoding="utf-8")
        self.assertEqual(conformance.statement_complaints(text, conformance.all_tests()), [])
        self.assertGreater(len(text.splitlines()), 100)

    def test_the_check_can_fail(self):
        self.assertEqual(self.wrong("S1_1,words,S1_1__in_order,\nS1_2,words,,why\n"), [])
        self.assertIn("no such statement", self.wrong("")[0])
        self.assertIn("tests or a reason", self.wrong("S1_1,words,,\n")[0])
        self.assertIn("tests or a reason", self.wrong("S1_1,words,S1_1__in_order,why\n")[0])
        self.assertIn("no test S1_1__other", " ".join(self.wrong("S1_1,words,S1_1__in_order S1_1__other,\n")))
        self.assertIn("twice", self.wrong("S1_1,w,S1_1__in_order,\nS1_1,w,S1_1__in_order,\n")[0])
        self.assertIn("not in its row", " ".join(self.wrong("S1_1,words,,why\n")))
        self.assertIn("a row is", " ".join(self.wrong("S1_1,,S1_1__in_order,\n")))


class Check(unittest.TestCase):
    """The check can fail."""

    def wrong(self, source, table=TABLE):
        return conformance.complaints(conformance.read_table(table), conformance.read_tests(source, "x.c"))

    def test_good(self):
        self.assertEqual(self.wrong(GOOD), [])

    def test_a_code_without_test(self):
        self.assertEqual(self.wrong(GOOD, TABLE.replace("binding takes no memory", "")),
                         ["GNI_EpBind ERROR_NOMEM: no test, and no reason why"])

    def test_a_test_and_a_reason(self):
        self.assertIn("has a test, and a reason", self.wrong(GOOD, TABLE.replace("SUCCESS,", "SUCCESS,why"))[0])

    def test_unknown_function(self):
        self.assertIn("no function of the interface", self.wrong(GOOD.replace("EpBind__", "EpBend__"))[0])

    def test_unknown_code(self):
        self.assertIn("no documented code", self.wrong(GOOD.replace("SUCCESS__", "TIMEOUT__"))[0])

    def test_other_name(self):
        self.assertIn("a name is", self.wrong(GOOD.replace("GNI_EpBind__SUCCESS__own_address", "binds"))[0])

    def test_statements_are_free(self):
        self.assertEqual(self.wrong(GOOD + "TEST(S4_3__own_address)\n{\n}\n"), [])

    def test_a_name_that_the_body_does_not_keep(self):
        self.assertIn("does not compare", self.wrong(GOOD.replace("MUST(GNI_EpBind(", "MUST(GNI_EpBand("))[0])
        self.assertIn("does not compare", self.wrong(GOOD.replace("MUST(", "RC(TIMEOUT, "))[0])

    def test_short_form(self):
        source = GOOD + "RC_TEST(GNI_EpBind__ERROR_NOMEM__x, ERROR_NOMEM, GNI_EpBind(NULL, 0, 0));\n"
        table = TABLE.replace("binding takes no memory", "")
        self.assertEqual(self.wrong(source, table), [])
        self.assertIn("does not compare", self.wrong(source.replace("x, ERROR_NOMEM", "x, SUCCESS"), table)[0])

    def test_the_same_row_twice(self):
        with self.assertRaises(ValueError):
            conformance.read_table(TABLE + "GNI_EpBind,SUCCESS,\n")
