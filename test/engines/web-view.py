"""An app with one web view, as WebKit's driver starts it: what becomes of a page's new window, and what the view calls itself."""

import sys

import gi

gi.require_version("Gtk", "3.0")
gi.require_version("WebKit2", "4.1")
from gi.repository import Gtk, WebKit2

NEW_WINDOW, USER_AGENT = sys.argv[1:3]

context = WebKit2.WebContext.new_ephemeral()
context.set_automation_allowed(True)
view = WebKit2.WebView(web_context=context, is_controlled_by_automation=True)
if USER_AGENT:
    view.get_settings().set_user_agent(USER_AGENT)


def create(_view, action):
    # window.open returns null, and a link to a new window does nothing else.
    if NEW_WINDOW == "same-view":
        view.load_request(action.get_request())
    return None


view.connect("create", create)


def automate(_context, session):
    info = WebKit2.ApplicationInfo()
    info.set_name("MiniBrowser")
    info.set_version(WebKit2.get_major_version(), WebKit2.get_minor_version(), WebKit2.get_micro_version())
    session.set_application_info(info)
    session.connect("create-web-view", lambda _session: view)


context.connect("automation-started", automate)

window = Gtk.Window(default_width=400, default_height=800)
window.add(view)
window.connect("destroy", Gtk.main_quit)
window.show_all()
view.load_uri("about:blank")
Gtk.main()
