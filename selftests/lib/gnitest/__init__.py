# SPDX-License-Identifier: GPL-2.0-or-later
"""What this project's own tests, checks and figures are made with, on top of the package opengni, which knows nothing of it.

    from gnitest.testing import ClusterCase             unittest, plain calls

Modules: testing (clusters for tests), standing (clusters that go from test to test), patience (a clock that a busy machine does not run ahead
of); layers (what `make check` runs), pytest_layer and tap (results), builds, mentions, packages and reach (what a change reaches); mutations,
mutants and mutation_table (faults that tests have to see); hosts (several on one machine); chaos, netchaos and manager (faults under
traffic); conformance, pages and unit; figures, figure_plots and bench_plots (what is measured and drawn).
"""
