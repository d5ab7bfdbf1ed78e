"""The planner's answers in Python are those that the commands print."""
import json
import pathlib
import pickle
import re
import tempfile
import unittest

from module import CONFIG, LAYOUTS, QUESTION, in_child, printed, without_time, words

import meshwright as mw


def without_source(svg):
    """A picture without the command that drew it."""
    return re.sub("<dc:source>.*</dc:source>", "", svg)


class SameAnswers(unittest.TestCase):
    maxDiff = None

    def same(self, answer, *command):
        self.assertEqual(without_time(answer.json), printed(*command))

    def test_recommend(self):
        answer = mw.recommend(**QUESTION, top=3, where="tp <= 4")
        self.same(answer, "recommend", *words(QUESTION), "--top=3", "--where=tp <= 4")
        self.assertEqual(len(answer), 3)

    def test_recommend_over_numbers_of_devices(self):
        question = QUESTION | {"gpus": (8, 32)}
        self.same(mw.recommend(**question), "recommend", *words(QUESTION | {"gpus": "8..32"}))

    def test_estimate(self):
        self.same(mw.estimate(layout=LAYOUTS[0], **QUESTION), "estimate", *words(QUESTION), "--layout", LAYOUTS[0])

    def test_compare(self):
        self.same(mw.compare(layouts=LAYOUTS, **QUESTION), "compare", *words(QUESTION), *LAYOUTS)

    def test_fit(self):
        self.same(mw.fit(layout=LAYOUTS[0], **QUESTION), "fit", *words(QUESTION), "--layout", LAYOUTS[0])

    def test_scale(self):
        self.same(mw.scale(**QUESTION | {"gpus": (8, 32)}), "scale", *words(QUESTION | {"gpus": "8..32"}))

    def test_fastest(self):
        question = {"model": "llama-3-8b", "cluster": "h100:8x4", "gpus": 32, "seq_len": 8192, "tokens": "1T",
                    "critical_batch": 4194304}
        self.same(mw.fastest(**question), "fastest", *words(question))

    def test_any_command_that_prints_json(self):
        result = mw.run("list", kind="clusters")
        self.assertEqual(result.outputs, [printed("list", "clusters")])


class Models(unittest.TestCase):
    """A model in each form that Python has it in."""

    def estimate(self, model):
        answer = mw.estimate(layout="tp2.pp1.dp16", **QUESTION | {"model": model})
        return {key: value for key, value in without_time(answer.json).items() if key != "request"}

    def test_a_dict_a_configuration_a_model_and_a_folder_are_the_same_model(self):
        class Configuration:
            def to_dict(self):
                return dict(CONFIG)

        class Model:
            config = Configuration()

        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "config.json").write_text(json.dumps(CONFIG))
            expected = self.estimate(pathlib.Path(folder))
        self.assertEqual(self.estimate(CONFIG), expected)
        self.assertEqual(self.estimate(Configuration()), expected)
        self.assertEqual(self.estimate(Model()), expected)

    def test_a_model_has_the_name_that_its_configuration_gives_it(self):
        answer = mw.estimate(layout="tp2.pp1.dp16", **QUESTION | {"model": CONFIG | {"_name_or_path": "mine/small"}})
        self.assertEqual(answer.request.model, "mine/small")

    def test_two_objects_are_two_files(self):
        cluster = printed("list", "clusters", "h100")
        answer = mw.estimate(layout="tp2.pp1.dp16", **QUESTION | {"model": CONFIG, "cluster": cluster | {"name": "ours"}})
        self.assertEqual((answer.request.model, answer.request.cluster), ("model", "ours"))

    def test_refuses_another_object(self):
        with self.assertRaisesRegex(TypeError, "model is a int; must be a name"):
            self.estimate(3)


class Errors(unittest.TestCase):
    def refused(self, kind, **changes):
        with self.assertRaises(kind) as caught:
            mw.recommend(**QUESTION | changes)
        return caught.exception

    def test_names_the_field_in_words_of_python(self):
        error = self.refused(mw.InvalidArgument, seq_len=-1)
        self.assertEqual((error.code, error.field), ("INVALID_ARGUMENT", "seq_len"))
        self.assertTrue(str(error).startswith("seq_len -1"), error)
        self.assertNotIn("--", str(error))

    def test_names_the_nearest_argument(self):
        error = self.refused(mw.InvalidArgument, global_bach=3)
        self.assertEqual(error.field, "global_bach")
        self.assertIn("nearest: global_batch", str(error))

    def test_names_a_wrong_type(self):
        error = self.refused(mw.InvalidArgument, gpus="many")
        self.assertIn("gpus", str(error))
        self.assertNotIn("--", str(error))

    def test_names_a_model_that_is_not_known(self):
        error = self.refused(mw.NotFound, model="lama-3-8b")
        self.assertEqual(error.field, "model")
        self.assertIn("llama-3-8b", str(error))

    def test_refuses_a_command_that_prints_no_json(self):
        with self.assertRaisesRegex(mw.InvalidArgument, "must be a command that prints JSON"):
            mw.run("serve")

    def test_an_exception_can_be_pickled(self):
        error = pickle.loads(pickle.dumps(self.refused(mw.InvalidArgument, seq_len=-1)))
        self.assertEqual((type(error), error.field), (mw.InvalidArgument, "seq_len"))

    def test_nothing_fits_is_an_answer(self):
        answer = mw.recommend(**QUESTION | {"model": "llama-3-405b", "gpus": 8, "cluster": "h100", "global_batch": 8})
        self.assertEqual(len(answer), 0)
        self.assertEqual(repr(answer), "(nothing)")


class Shown(unittest.TestCase):
    def test_rows_have_their_keys_as_attributes(self):
        answer = mw.recommend(**QUESTION, top=2)
        self.assertEqual(answer[0].time.step_s, answer.json["layouts"][0]["time"]["step_s"])
        self.assertEqual([row.layout for row in answer], [row["layout"] for row in answer["layouts"]])
        self.assertEqual(answer[-1].layout, answer[1:][0].layout)
        self.assertEqual(answer.request.gpus, 32)
        with self.assertRaisesRegex(AttributeError, "no step_s"):
            answer.step_s

    def test_a_table_has_a_line_for_each_row(self):
        answer = mw.recommend(**QUESTION, top=2)
        lines = repr(answer).splitlines()
        self.assertEqual(len(lines), 3)
        self.assertIn("P(OOM)", lines[0])
        self.assertIn(answer[1].layout, lines[2])
        self.assertEqual(answer._repr_html_().count("<tr>"), 3)

    def test_answers_are_drawn_as_the_command_draws_them(self):
        answer = mw.compare(layouts=LAYOUTS, **QUESTION)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "plot.svg"
            printed("compare", *words(QUESTION), f"--plot={file}", *LAYOUTS)
            self.assertEqual(without_source(answer._repr_svg_()), without_source(file.read_text()))
        self.assertIn(answer.svg, answer._repr_html_())
        self.assertIsNone(mw.recommend(**QUESTION).svg)

    def test_markup_in_a_name_is_only_text(self):
        row = {"layout": "<script>"}
        self.assertIn("&lt;script&gt;", mw.Answer({"rows": [row]}, "rows")._repr_html_())

    def test_a_frame_has_a_row_for_each_layout_or_names_pandas(self):
        answer = mw.recommend(**QUESTION, top=3)
        try:
            import pandas  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, "pip install pandas"):
                answer.df
            return
        self.assertEqual(list(answer.df["time.step_s"]), [row.time.step_s for row in answer])


class Imports(unittest.TestCase):
    def test_an_import_loads_no_library_and_no_table(self):
        done = in_child("import sys, meshwright; "
                        "print(sorted(set(sys.modules) & {'pandas', 'numpy', 'IPython', 'asyncio', 'subprocess'}))")
        self.assertEqual(done.stdout, "[]\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
