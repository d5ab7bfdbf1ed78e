"""The views of one question: Plan, Layout, Compare and Scale."""
import json
import re
import unittest
import urllib.parse

from browser import QUESTION, PageTest, address, ask, sentence

COMMAND = ["--model", "llama-3-8b", "--cluster", "h100", "--gpus", "64", "--seq-len", "8192", "--global-batch", "256"]
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048, "intermediate_size": 8192,
          "num_hidden_layers": 16, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "hidden_act": "silu",
          "rms_norm_eps": 1e-5, "rope_theta": 500000.0, "tie_word_embeddings": True, "max_position_embeddings": 131072}


class PlanTest(PageTest):
    def rows(self, page):
        return page.locator("[data-ref=table] tbody tr")

    def test_the_first_answer_is_that_of_the_command_line(self):
        page = self.open()
        said = sentence(page)
        answer = json.loads(ask("recommend", *COMMAND, "--format", "json"))
        layouts = [row.get_attribute("href") for row in self.rows(page).locator("a.layout-text").all()]
        self.assertEqual(len(layouts), 12)
        for href, layout in zip(layouts, answer["layouts"]):
            self.assertTrue(urllib.parse.unquote(href).endswith(f"layout={layout['layout']}"), href)
        self.assertIn(f"{answer['ties']['count'] - 1} other layouts are within", said)
        self.assertIn("149,950", page.locator("[data-ref=searched]").inner_text())

    def test_a_keystroke_changes_the_answer_and_the_address(self):
        page = self.open()
        before = sentence(page)
        page.get_by_label("GPUs", exact=True).fill("128")
        self.until(lambda: sentence(page) != before)
        self.until(lambda: "gpus=128" in address(page))
        self.assertIn("dp128", page.locator(".verdict .layout-text").first.inner_text())

    def test_a_link_shows_the_same_to_somebody_else(self):
        page = self.open(f"#plan?{QUESTION}")
        page.get_by_label("Only layouts with").fill("tp = 4 and pp = 2")
        self.until(lambda: "tp4" in sentence(page) and "pp2" in sentence(page))
        self.until(lambda: "where=" in address(page))
        other = self.open(page.evaluate("location.hash"))
        self.assertEqual(sentence(other), sentence(page))
        self.assertEqual(other.get_by_label("Only layouts with").input_value(), "tp = 4 and pp = 2")

    def test_a_slider_moves_in_powers_of_two(self):
        page = self.open()
        sentence(page)
        slider = page.get_by_label("GPUs, in powers of two")
        slider.focus()
        page.keyboard.press("ArrowRight")
        self.assertEqual(page.get_by_label("GPUs", exact=True).input_value(), "128")
        self.assertEqual(slider.get_attribute("aria-valuetext"), "128")

    def test_only_the_last_of_many_changes_is_answered(self):
        page = self.open()
        sentence(page)
        page.get_by_label("GPUs", exact=True).press_sequentially("0", delay=1)  # 640
        field = page.get_by_label("Tokens of a sequence", exact=True)
        for tokens in (1024, 2048, 4096, 2048, 1024, 512):
            field.fill(str(tokens))
        page.get_by_label("GPUs", exact=True).fill("32")
        self.until(lambda: "dp32" in page.locator(".verdict .layout-text").first.inner_text() or "dp16" in sentence(page))
        answer = json.loads(ask("recommend", *COMMAND[:5], "32", "--seq-len", "512", "--global-batch", "256", "--format", "json"))
        simplest = answer["ties"]["simplest"][0]["layout"]
        self.until(lambda: page.locator(".verdict .layout-text").first.inner_text().replace("\u200b", "") == simplest)

    def test_a_mistake_is_said_at_its_field(self):
        self.expected_errors += ["status of 400"]
        page = self.open()
        sentence(page)
        where = page.get_by_label("Only layouts with")
        where.fill("tp << 3")
        self.until(lambda: where.get_attribute("aria-invalid") == "true")
        described = page.locator(f"#{where.get_attribute('aria-describedby')}")
        self.assertIn("at character 4", described.inner_text())
        self.assertEqual(self.rows(page).count(), 12, "the answer before is left")
        where.fill("tp <= 2")
        self.until(lambda: where.get_attribute("aria-invalid") is None)

    def test_a_number_that_is_none_is_not_sent(self):
        page = self.open()
        sentence(page)
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        gpus = page.get_by_label("GPUs", exact=True)
        gpus.fill("many")
        self.until(lambda: gpus.get_attribute("aria-invalid") == "true")
        self.assertEqual([url for url in asked if url.endswith("Recommend")], [])

    def test_where_nothing_fits_it_says_what_is_nearest_and_what_to_do(self):
        page = self.open("#plan?model=llama-3-405b&cluster=h100&gpus=8&seq=8192&batch=64")
        self.assertRegex(sentence(page), r"Nothing fits\. The nearest layout, tp\d.*GiB too much")
        page.get_by_role("button", name="Try 16 GPUs").click()
        self.until(lambda: "gpus=16" in address(page))

    def test_a_dropped_config_is_planned_and_travels_in_the_link(self):
        page = self.open()
        sentence(page)
        page.locator("[data-ref=config_file]").set_input_files([{"name": "mine-1b.json", "mimeType": "application/json", "buffer": json.dumps(CONFIG).encode()}])
        self.until(lambda: "1.24 B parameters" in page.locator(".verdict").inner_text())
        self.until(lambda: "config=" in address(page))
        self.assertIn("mine-1b", page.locator("[data-ref=config_name]").inner_text())
        other = self.open(page.evaluate("location.hash"))
        self.until(lambda: "1.24 B parameters" in other.locator(".verdict").inner_text())

    def test_a_file_that_is_no_json_is_refused(self):
        page = self.open()
        sentence(page)
        page.locator("[data-ref=config_file]").set_input_files([{"name": "x.json", "mimeType": "application/json", "buffer": b"no"}])
        self.until(lambda: "is no JSON file" in page.locator("[data-ref=config_name]").inner_text())

    def test_a_network_in_words_has_a_field_for_each(self):
        page = self.open()
        sentence(page)
        self.expected_errors += ["status of 400"]  # eight devices are too few until the nodes are said
        page.get_by_text("Nodes and links").click()
        page.get_by_label("GPUs of a node").fill("8")
        page.get_by_label("Nodes", exact=True).fill("8")
        page.get_by_role("combobox", name="Network").select_option("ib")
        page.get_by_label("Rate of a node").fill("200Gb")
        self.until(lambda: "cluster=h100:8x8,ib=200Gb" in address(page))
        self.until(lambda: "network between nodes is yours" in page.locator("[data-ref=rests]").inner_text())

    def test_a_batch_in_tokens(self):
        page = self.open()
        before = sentence(page)
        page.get_by_label("Unit of the batch").select_option("tokens")
        batch = page.locator("#batch")
        self.assertEqual(batch.input_value(), str(256 * 8192))
        batch.fill("4M")
        self.until(lambda: sentence(page) != before)
        batch.fill("4000000")
        self.until(lambda: batch.get_attribute("aria-invalid") == "true")
        self.assertIn("3997696 or 4005888 are", page.locator("#wrong-batch").inner_text())

    def test_what_i_run_is_ranked(self):
        page = self.open(f"#plan?{QUESTION}&mine=tp8.pp1.dp8.mb1.zero1.sp1")
        sentence(page)
        self.assertRegex(page.locator("[data-ref=mine]").inner_text(), r"rank 4,123 of 13,754.*slower")

    def test_what_would_still_fit(self):
        page = self.open()
        page.locator("[data-ref=fit] table").wait_for()
        self.assertRegex(page.locator("[data-ref=fit]").inner_text(), r"Sequence\s+8,192\s+3,078,144")


class LayoutTest(PageTest):
    TOO_LARGE = "#layout?model=llama-3-70b&cluster=h100&gpus=64&seq=4096&batch=512&layout=tp4.pp4.dp4.mb2.zero1.sp1"

    def test_what_fills_the_ranks_and_the_smallest_change_that_fits(self):
        page = self.open(self.TOO_LARGE)
        self.assertIn("It does not fit: 19.80 GiB over", sentence(page))
        ranks = page.locator("[data-ref=memory] .track")
        self.assertEqual(ranks.count(), 4)
        self.assertIn("activations 41.92 GiB", ranks.first.get_attribute("aria-label"))
        page.locator(".trouble a.layout-text").click()
        self.until(lambda: sentence(page).startswith("It fits"))
        self.assertIn("mb1", address(page))

    def test_a_layer_is_shown_operator_by_operator_with_and_without_a_pipeline(self):
        layout = "tp2.pp1.dp32.mb1.zero1.sp1"
        page = self.open(f"#layout?{QUESTION}&layout={layout}")
        bars = page.locator("[data-ref=operators] .track")
        self.until(lambda: bars.count() == 2, "a forward and a backward")
        kind = json.loads(ask("schedule", "--layout", layout, *COMMAND, "--format", "json"))["layer_kinds"][0]
        names = [op["name"].replace("_", " ") for op in kind["operators"]]
        for name in names:
            self.assertIn(name, bars.first.get_attribute("aria-label"))
        self.assertIn("ffn enter, tensor parallel", bars.last.get_attribute("aria-label"))
        longest = max(kind["operators"], key=lambda op: sum(value for key, value in op.items() if key.endswith("_s")))
        self.assertIn(longest["name"].replace("_", " "), page.locator("[data-ref=operators] tbody tr").first.inner_text())
        self.assertIn("32 layers: attention, FFN", page.locator("[data-ref=operators]").inner_text())
        self.assertTrue(page.locator("[data-ref=timeline]").is_hidden(), "no pipeline, no ranks")
        page = self.open(self.TOO_LARGE)
        self.until(lambda: page.locator("[data-ref=schedule] .track").count() == 4)
        self.assertEqual(page.locator("[data-ref=operators] .track").count(), 2)

    def test_a_run_that_i_measured_corrects_every_estimate(self):
        page = self.open(f"#layout?{QUESTION}&layout=tp2.pp1.dp32.mb1.zero1.sp1")
        before = sentence(page)
        page.get_by_label("Time of a step").fill("4.2")
        page.get_by_label("Peak of the fullest GPU").fill("49")
        page.get_by_role("button", name="Correct the estimates").click()
        self.until(lambda: sentence(page) != before)
        self.until(lambda: "step=4.2s memory=49GiB" in address(page))
        self.assertIn("corrected by 1 run of yours", page.locator("[data-ref=rests]").inner_text())
        page.get_by_role("link", name="Plan", exact=True).click()
        self.until(lambda: "corrected by 1 run of yours" in page.locator("[data-ref=rests]").inner_text())

    def test_a_layout_that_cannot_run_says_why(self):
        self.expected_errors += ["status of 400"]
        page = self.open(f"#layout?{QUESTION}&layout=tp3.pp1.dp8.mb1")
        page.locator(".trouble").wait_for()
        self.assertIn("tp * cp * pp * dp is 24", page.locator(".trouble").inner_text())

    def test_the_layout_is_copied(self):
        page = self.open(f"#layout?{QUESTION}&layout=tp2.pp1.dp32.mb1.zero1.sp1")
        sentence(page)
        page.get_by_role("button", name="Copy layout").click()
        self.until(lambda: page.evaluate("navigator.clipboard.readText()") == "tp2.cp1.pp1.dp32.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b")


class CompareTest(PageTest):
    def test_pinned_layouts_stand_side_by_side(self):
        page = self.open(f"#plan?{QUESTION}")
        sentence(page)
        rows = page.locator("[data-ref=table] tbody tr")
        for i in (0, 2):
            rows.nth(i).get_by_role("button", name=re.compile("^Pin")).click()
        page.get_by_role("link", name="Compare 2").click()
        self.until(lambda: "wins" in sentence(page))
        shown = page.get_by_role("rowheader").all_inner_texts()
        self.assertIn("tp", shown)
        self.assertNotIn("pp", shown, "equal rows are hidden")
        page.get_by_label("Show equal rows").check()
        self.assertIn("pp", page.get_by_role("rowheader").all_inner_texts())
        page.get_by_role("button", name="unpin").first.click()
        self.until(lambda: page.get_by_role("button", name="unpin").count() == 1)

    def test_without_pins_it_says_how_to_pin(self):
        page = self.open(f"#compare?{QUESTION}")
        page.get_by_role("heading", name="Nothing is pinned").wait_for()


class ScaleTest(PageTest):
    def test_how_many_devices_for_a_budget(self):
        page = self.open(f"#scale?{QUESTION}&low=8&high=128&tokens=1T&days=30&price=2.5")
        self.assertIn("Fewest that fit: 8 devices", sentence(page))
        self.assertIn("Fewest that finish within 30.0 days", page.locator(".verdict").inner_text())
        self.assertEqual(page.locator(".plot").count(), 3)
        page.get_by_label("Within days").fill("15")
        self.until(lambda: "within 15.0 days" in page.locator(".verdict").inner_text())
        self.until(lambda: "days=15" in address(page))


if __name__ == "__main__":
    unittest.main()
