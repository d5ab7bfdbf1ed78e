"""The frame around the views: who may see them, on which screens, by which means; and what is shown where the server is gone."""
import unittest

from browser import QUESTION, PageTest, Server, quiet, sentence

PLANNING = ["plan", "layout", "compare", "space", "scale", "trust"]
OTHERS = ["sweeps", "history", "agents"]
ALL = [f"#{view}?{QUESTION}&pins=tp2.pp1.dp32.mb1.zero1.sp1~tp8.pp1.dp8.mb1.zero1.sp1" for view in PLANNING] + [f"#{view}" for view in OTHERS]
# What is wider than the screen, outside of what scrolls by itself.
TOO_WIDE = """[...document.querySelectorAll('main *, header *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1
  && !e.closest('.scroll, pre, nav, .sr, .overlay') ).map((e) => e.outerHTML.slice(0, 90))"""
# What a keyboard has to reach; of radio buttons and the like there are none.
REACHABLE = """[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter((e) =>
  !e.disabled && e.tabIndex >= 0 && e.checkVisibility({visibilityProperty: true}))"""


class ScreensTest(PageTest):
    def settled(self, page):
        """Waits until the view has its answer."""
        page.locator("main .card:visible, main .empty:visible").first.wait_for()
        quiet(page)

    def test_axe_finds_nothing_serious_in_any_view(self):
        for scheme, rules in (("light", ""), ("dark", "color-contrast")):  # other rules know no colours
            context = self.context(color_scheme=scheme)
            page = self.open(context=context)
            for fragment in ALL:
                with self.subTest(fragment=fragment, scheme=scheme):
                    page.goto(self.server().url + fragment)
                    self.settled(page)
                    self.assert_accessible(page, rules)

    def test_nothing_is_wider_than_a_phone(self):
        page = self.open(viewport={"width": 390, "height": 844})
        for fragment in ALL:
            with self.subTest(fragment=fragment):
                page.goto(self.server().url + fragment)
                self.settled(page)
                self.assertEqual(page.evaluate(TOO_WIDE), [])
                self.assertEqual(page.evaluate("document.documentElement.scrollWidth"), 390)

    def test_tab_reaches_everything(self):
        page = self.open(f"#plan?{QUESTION}&where=tp+=+1")
        sentence(page)
        self.settled(page)
        page.evaluate(f"{REACHABLE}.forEach((e, i) => {{ e.dataset.reach = i; }})")
        wanted = page.evaluate(f"{REACHABLE}.length")
        reached = set()
        page.evaluate("document.body.focus()")
        for _ in range(wanted + 10):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.dataset.reach"))
        self.assertEqual(len(reached - {None}), wanted)

    def test_the_first_stop_skips_to_the_answer(self):
        page = self.open(f"#plan?{QUESTION}")
        sentence(page)
        page.keyboard.press("Tab")
        self.assertEqual(page.evaluate("document.activeElement.textContent"), "Skip to the answer")
        page.keyboard.press("Enter")
        self.assertEqual(page.evaluate("document.activeElement.id"), "main")

    def test_an_answer_is_printed_without_what_asks(self):
        page = self.open(f"#plan?{QUESTION}")
        sentence(page)
        page.emulate_media(media="print")
        self.assertFalse(page.get_by_label("GPUs", exact=True).is_visible())
        self.assertFalse(page.get_by_role("navigation").is_visible())
        self.assertTrue(page.locator("[data-ref=table] tbody tr").nth(11).is_visible())
        self.assertGreater(len(page.pdf()), 20_000)

    def test_colours_are_the_systems_until_they_are_chosen(self):
        page = self.open(color_scheme="dark")
        background = lambda: page.evaluate("getComputedStyle(document.body).backgroundColor")
        dark = background()
        page.get_by_role("button", name="Colours: auto").click()
        light = background()
        self.assertNotEqual(light, dark)
        page.reload()
        self.assertEqual(background(), light)
        page.get_by_role("button", name="Colours: light").click()
        self.assertEqual(background(), dark)

    def test_back_returns_to_the_view_before(self):
        page = self.open(f"#plan?{QUESTION}&mine=tp8.pp1.dp8.mb1.zero1.sp1")
        sentence(page)
        page.get_by_role("link", name="Trust").click()
        page.get_by_role("heading", name="What can be trusted").wait_for()
        page.go_back()
        self.until(lambda: page.get_by_label("My layout").input_value() == "tp8.pp1.dp8.mb1.zero1.sp1")

    def test_an_address_of_no_view_leads_to_the_plan(self):
        page = self.open("#nowhere")
        sentence(page)


class ConnectionTest(PageTest):
    def test_a_lost_server_is_said_and_found_again(self):
        self.expected_errors += ["Failed to load", "net::ERR"]
        server = Server()
        self.addCleanup(lambda: server.stop())
        page = self.open(f"#plan?{QUESTION}", url=server.url)
        before = sentence(page)
        server.stop()
        page.get_by_label("GPUs", exact=True).fill("32")
        page.get_by_role("alert").filter(has_text="does not answer").wait_for()
        server = Server(http=server.url.split("/")[2])
        page.get_by_role("alert").filter(has_text="does not answer").wait_for(state="hidden")
        self.until(lambda: sentence(page) not in ("", before))

    def test_no_request_leaves_the_host(self):
        page = self.open(f"#plan?{QUESTION}")
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        sentence(page)
        for view in ("Space", "Scale", "Agents"):
            page.get_by_role("link", name=view, exact=True).click()
            quiet(page)
        self.assertTrue(asked)
        self.assertEqual([url for url in asked if not url.startswith(self.server().url)], [])


if __name__ == "__main__":
    unittest.main()
