"""The views of what runs and ran: Sweeps, Sweep, Trial, History, Agents and Space, on real trials of this machine."""
import re
import unittest

from browser import PageTest, Server, address, agent, ask, sentence

# A model of which two ranks of a processor run a step in well below a second.
SMALL = "model=tinystories-15m&cluster=local-cpu&framework=meshwright&gpus=2&seq=32&batch=4"
LAYOUTS = ["tp2.pp1.dp1.mb2.zero0.sp1", "tp1.pp2.dp1.mb2.zero0"]
STEPS = "3"
TABS = 8  # a browser has six connections to a server
SWEEP_S = 200  # seconds on an idle machine take minutes on a busy one


class SweepTest(PageTest):
    """One sweep, which the first test starts in the browser and follows to its end; the others look at it."""

    server_of_all = None

    @classmethod
    def setUpClass(cls):
        cls.server_of_all = Server()
        cls.addClassCleanup(cls.server_of_all.stop)
        agents = agent(cls.server_of_all)
        agents.__enter__()
        cls.addClassCleanup(agents.__exit__, None, None, None)
        ask("sweep", "start", "--server", cls.server_of_all.address, "--name", "before", "--model", "tinystories-15m", "--cluster",
            "local-cpu", "--gpus", "2", "--seq-len", "32", "--global-batch", "4", "--trials", "0", "--steps", STEPS,
            *(word for layout in LAYOUTS for word in ("--layout", layout)), "--watch", timeout_s=SWEEP_S)

    def server(self):
        return self.server_of_all

    def test_a_sweep_is_started_and_followed_to_its_end(self):
        page = self.open(f"#sweeps?{SMALL}")
        page = self.open(f"#plan?{SMALL}", context=page.context)
        sentence(page)
        page.get_by_role("link", name="Sweeps").click()
        page.get_by_text("Start a sweep").click()
        page.get_by_label("At most trials").fill("2")
        page.get_by_label("Steps of a trial").fill(STEPS)
        other = self.context().new_page()
        page.get_by_role("button", name="Start it").click()
        self.until(lambda: "#sweep?name=sweeps/" in address(page))
        other.goto(self.server().url + page.evaluate("location.hash"))
        for one in (page, other):  # both live, over one address
            one.locator("h1 .chip", has_text="finished").wait_for()
            one.get_by_role("list", name="Events, the newest first").get_by_text(re.compile("s per step")).first.wait_for()
        self.assertIn("The fastest is", sentence(page))
        self.assertGreaterEqual(page.locator(".plot .dot").count(), 2)

    def test_the_list_has_state_and_best(self):
        page = self.open("#sweeps")
        row = page.get_by_role("row").filter(has=page.get_by_role("link", name="before", exact=True))
        row.get_by_text("finished").wait_for()
        self.until(lambda: re.search(r"\d (ms|s)\b", row.inner_text()))
        self.assertIn("2 of 2", row.inner_text())

    def test_a_sweep_shows_its_trials_and_why_it_ended(self):
        page = self.open("#sweep?name=sweeps/before")
        self.assertIn("The fastest is", sentence(page))
        self.assertEqual(page.get_by_role("region", name="Trials, running ones first").locator("tbody tr").count(), 2)
        page.get_by_role("group", name="Measured step time against predicted").wait_for()
        self.assert_accessible(page)

    def test_a_trial_has_its_ranks_phases_and_plan(self):
        page = self.open("#trial?name=sweeps/before/trials/1")
        page.get_by_role("heading", name="before #1 ok").wait_for()
        self.assertEqual(page.get_by_role("region", name="Memory by rank").locator("tbody tr").count(), 2)
        self.assertIn("forward", page.get_by_role("img", name=re.compile("^forward .*optimizer")).first.get_attribute("aria-label"))
        page.get_by_text("Plan that its workers got").click()
        self.assertIn('"layout"', page.locator("details pre").inner_text())
        self.assert_accessible(page)

    def test_eight_tabs_of_one_browser_are_all_live(self):
        ask("sweep", "start", "--ask", "--server", self.server().address, "--name", "tabs", "--model", "tinystories-15m", "--cluster",
            "local-cpu", "--gpus", "2", "--seq-len", "32", "--global-batch", "4", "--trials", "2")
        context = self.context()
        tabs = [self.open("#sweep?name=sweeps/tabs", context=context) for _ in range(TABS)]
        for tab in tabs:
            tab.locator("h1 .chip", has_text="pending").wait_for()
        ask("sweep", "cancel", "tabs", "--server", self.server().address)
        for tab in tabs:
            tab.locator("h1 .chip", has_text="cancelled").wait_for()

    def test_names_of_nothing_are_said(self):
        self.expected_errors = ["status of 404"]
        page = self.open("#sweep?name=sweeps/nothing")
        trouble = page.locator(".trouble .sentence")
        trouble.filter(has_text="nothing").wait_for()
        page.goto(self.server().url + "#trial?name=sweeps/before/trials/99")
        trouble.filter(has_text="99").wait_for()

    def test_history_finds_trials_by_a_condition_and_says_what_is_wrong_with_one(self):
        self.expected_errors = ["status of 400"]
        page = self.open("#history?where=tp+=+2&cols=trial,layout,step_s")
        rows = page.get_by_role("region", name="Trials with a result").locator("tbody tr")
        self.until(lambda: rows.count() >= 1)
        self.assertTrue(all("tp2" in text for text in rows.locator(".layout-text").all_inner_texts()))
        self.assertEqual(page.get_by_role("columnheader").all_inner_texts(), ["Trial", "Layout", "Step"])
        page.get_by_label("Only trials with").fill("tp ~ 2")
        page.get_by_role("alert").get_by_text("there is ~").wait_for()
        page.get_by_label("Only trials with").fill("outcome = ok")
        with page.expect_download() as saved:
            page.get_by_role("button", name="CSV").click()
        self.assertTrue(saved.value.path().read_text().startswith("trial,layout,step_s,tp,"))

    def test_an_agent_is_drained_and_resumed(self):
        page = self.open("#agents")
        row = page.get_by_role("row").filter(has_text="here")
        row.get_by_text("free").wait_for()
        row.get_by_role("button", name="Drain").click()
        row.get_by_text("drained").wait_for()
        row.get_by_role("button", name="Resume").click()
        row.get_by_text("free").wait_for()

    def test_two_sweeps_are_compared(self):
        ask("sweep", "rerun", "before", "--server", self.server().address, "--name", f"again-{id(self)}", "--watch", timeout_s=SWEEP_S)
        page = self.open(f"#compare?sweeps=sweeps/before,sweeps/again-{id(self)}")
        self.assertIn("The best step went from", sentence(page))
        self.assertEqual(page.get_by_role("region", name="Layouts that ran in both sweeps").locator("tbody tr").count(), 2)

    def test_space_filters_by_keys_and_draws_all_three_charts(self):
        page = self.open("#space?from=-")
        handle = page.get_by_role("slider", name="Lowest tp")
        handle.wait_for()
        points = page.locator("h2", has_text="point")
        before = points.inner_text()
        handle.focus()
        page.keyboard.press("ArrowUp")
        self.until(lambda: points.inner_text() != before)
        self.assertEqual(handle.get_attribute("aria-valuetext"), "2")
        self.until(lambda: "brush=tp:" in address(page))
        page.get_by_role("button", name="Heat map").click()
        page.get_by_role("region", name=re.compile("by tp and")).wait_for()
        page.get_by_role("button", name="Pareto").click()
        page.get_by_role("group", name=re.compile("Pareto front")).wait_for()


class EmptyTest(PageTest):
    def test_views_without_anything_say_what_to_do(self):
        for fragment, heading in (("#sweeps", "No sweep yet"), ("#history", "Nothing was measured yet"), ("#agents", "No agent is connected"),
                                  ("#space?from=-", "No point to draw")):
            with self.subTest(fragment=fragment):
                page = self.open(fragment)
                page.get_by_role("heading", name=heading).wait_for()


if __name__ == "__main__":
    unittest.main()
