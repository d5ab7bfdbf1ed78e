"""The login of a server with TLS, in the browser: tokens, roles, logout and revocation."""
import subprocess
import tempfile
import unittest

from browser import PageTest, QUESTION, Server, ask, sentence


def certificate(folder):
    """The files of a certificate for this machine's loopback address that signs itself."""
    files = [f"{folder}/server.pem", f"{folder}/server.key"]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-out", files[0],
                    "-keyout", files[1], "-days", "2", "-subj", "/CN=server", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    return files


class LoginTest(PageTest):
    """A server takes five logins a minute of one address, which bounds the logins of all tests."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="meshwright-login-test-")
        cert, key = certificate(cls.folder)
        cls.tokens = {role: cls.token(role) for role in ("viewer", "operator")}
        cls.of_all = Server("--tls-cert", cert, "--tls-key", key, folder=cls.folder)
        cls.addClassCleanup(cls.of_all.stop)

    @classmethod
    def token(cls, role, name=None):
        return ask("token", "create", "--db", f"{cls.folder}/sweeps.db", "--role", role, "--name", name or role).strip()

    def setUp(self):
        super().setUp()
        self.expected_errors += ["Failed to load resource"]  # of the calls that are refused until one is logged in

    def server(self):
        return self.of_all

    def at_login(self, fragment=f"#plan?{QUESTION}"):
        page = self.open(fragment, context=self.context(ignore_https_errors=True))
        page.get_by_role("heading", name="Log in").wait_for()
        return page

    def log_in(self, page, token):
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()

    def test_a_token_opens_the_address_that_was_asked_for(self):
        page = self.at_login()
        self.log_in(page, "mwt_" + "x" * 40)
        page.get_by_role("alert").filter(has_text="token").wait_for()
        self.log_in(page, self.tokens["viewer"])
        self.assertIn("Run tp1", sentence(page))
        page.get_by_text("viewer (viewer)").wait_for()
        cookie, = page.context.cookies()
        self.assertEqual(cookie["name"], "__Host-meshwright")
        self.assertTrue(cookie["secure"] and cookie["httpOnly"] and cookie["sameSite"] == "Strict")
        self.assertNotIn(self.tokens["viewer"], cookie["value"])
        page.reload()
        self.assertIn("Run tp1", sentence(page))
        self.assertEqual(self.starts(page), 0, "a viewer starts nothing")

    def test_axe_finds_nothing_serious_in_the_login(self):
        self.assert_accessible(self.at_login())

    def test_after_a_logout_the_page_asks_again(self):
        page = self.at_login()
        self.log_in(page, self.tokens["operator"])
        sentence(page)
        self.assertEqual(self.starts(page), 1)
        page.get_by_role("button", name="Log out").click()
        page.get_by_text("You are logged out.").wait_for()
        self.assertEqual(page.context.cookies(), [])
        page.reload()
        page.get_by_role("heading", name="Log in").wait_for()

    @staticmethod
    def starts(page):
        """The number of ways to start a sweep in the view of sweeps."""
        page.get_by_role("link", name="Sweeps", exact=True).click()
        page.get_by_role("heading", name="Sweeps", exact=True).wait_for()
        return page.get_by_text("Start a sweep").count()

    def test_a_revoked_token_ends_what_it_opened(self):
        page = self.at_login()
        self.log_in(page, self.token("viewer", name="leaver"))
        sentence(page)
        ask("token", "revoke", "--db", f"{self.folder}/sweeps.db", "leaver")
        page.get_by_label("GPUs", exact=True).focus()
        self.until(lambda: self.asks_again(page))

    @staticmethod
    def asks_again(page):
        """Changes the question by the slider's key, and returns whether the page wants a login."""
        page.keyboard.press("ArrowUp")
        page.wait_for_timeout(200)
        return page.get_by_role("heading", name="Log in").count() == 1


if __name__ == "__main__":
    unittest.main()
