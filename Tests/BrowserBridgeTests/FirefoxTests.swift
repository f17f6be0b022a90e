import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

/// Firefox: what the page's own script says that it holds is what counts.
@Suite(.serialized, .enabled(if: FirefoxDriver.canRun, "needs firefox-esr: .ci/setup test"))
struct FirefoxTests {
  @Test func textsAreReadWrittenAndUndone() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.shows("Document.Title", .string("Entries"))
      // (an element, what is written, what it holds then)
      let written: [(String, String, String)] = [
        ("entry", "one", "one"), ("entry", "äö 😀 e\u{301} 👩‍👩‍👧 \u{202e}", "äö 😀 e\u{301} 👩‍👩‍👧 \u{202e}"), ("entry", "", ""),
        ("limited", "too long", "too l"), ("email", "a@b", "a@b"), ("area", "two\nlines\n", "two\nlines\n"),
        ("upper", "shout", "SHOUT"), ("open shadow", "in", "in"), ("closed shadow", "in 😀", "in 😀"),
        ("number", "7", "7"), ("plain", "rich 😀", "rich 😀"), ("closed rich", "deep", "deep"),
      ]
      for (name, text, held) in written {
        try await stage.focusNamed(name)
        #expect(try await stage.write("Text.Content", .string(text)) == .string(held), "\(name)")
        #expect(try await stage.held(name) == held, "\(name)")
        #expect(try await stage.get("Text.Content") == .string(held), "\(name)")
      }
      #expect(try await !stage.held("seen:entry").contains("false"), "the page saw events that nobody typed")
      try await typing(stage)
      try await whatChangesNothing(stage)
      try await refusals(stage)
      try await editable(stage)
    }
  }

  @Test func aTextOfManyElementsIsTypedInto() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.script(
        """
        const words = "<span>word</span>\\n".repeat(2000);
        document.body.insertAdjacentHTML("beforeend", `<div aria-label="long" contenteditable>${words}</div>`);
        """)
      try await stage.focusNamed("long")
      try await stage.run("keys", "typed")
      try await eventually("what is typed") { try await stage.held("long").contains("typed") }
      try await eventually("it is told") { try await stage.get("Text.Content")?.basicText?.contains("typed") == true }
    }
  }

  @Test func focusMovesInOneStepAndToWhatHasItsName() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      let watch = try await stage.desktop.start(
        [Products.focusctl, "--address", stage.desktop.bus.address, "watch", "Element.Name"])
      try await watch.line("the entry") { $0 == "entry" }
      // An edited entry's event of a change comes before the next one has focus.
      for name in ["limited", "entry", "limited"] {
        try await stage.run("keys", "x")
        try await stage.script("focusOn('\(name)')")
        try await stage.shows("Element.Name", .string(name))
      }
      // The ids of a shadow tree are its own.
      try await stage.script(
        """
        document.body.insertAdjacentHTML("beforeend", "<i id=label>outer</i><div id=tree></div>");
        const tree = document.querySelector("#tree").attachShadow({ mode: "open" });
        tree.innerHTML = "<i id=label>inner</i><input aria-labelledby=label>";
        tree.lastChild.focus();
        """)
      #expect(try await watch.lines(5) == ["entry", "limited", "entry", "limited", "inner"])
    }
  }

  /// A page that is open all day has more elements than the extension keeps.
  @Test func anElementThatComesBackAfterManyOthersIsWritten() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      try await stage.script(
        """
        for (let number = 0; number < 64; number++) {
          document.body.insertAdjacentHTML("beforeend", `<button aria-label="other ${number}">x</button>`);
        }
        """)
      for number in 0..<64 { try await stage.focusNamed("other \(number)") }
      try await stage.focusNamed("entry")
      try await stage.write("Text.Content", .string("back"))
      #expect(try await stage.held("entry") == "back")
    }
  }

  @Test func rangesAndTogglesAreWritten() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("slider")
      #expect(try await stage.get("Range.Step") == .double(0.5))
      #expect(try await stage.write("Range.Value", .double(7.6)) == .double(7.5))
      #expect(try await stage.held("slider") == "7.5")
      try await stage.runs("Range.Increment")
      #expect(try await stage.held("slider") == "8")
      #expect(try await stage.write("Range.Value", .double(99)) == .double(10))
      try await stage.runs("Range.Increment")
      #expect(try await stage.held("slider") == "10")
      // What the page has changed and not told yet is what a change goes on from.
      try await stage.write("Range.Value", .double(5))
      try await stage.script("find('slider').value = 8")
      #expect(try await stage.desktop.focusctl("update", "Range.Value", "+1").succeeded)
      #expect(try await stage.held("slider") == "9")
      try await stage.focusNamed("number")
      try await stage.runs("Range.Decrement")
      #expect(try await stage.held("number") == "2")
      for (name, step, held) in [
        ("decimal", "Increment", "0.3"), ("any", "Increment", "6"), ("any", "Decrement", "5"),
      ] {
        try await stage.focusNamed(name)
        try await stage.runs("Range.\(step)")
        #expect(try await stage.held(name) == held, "\(name)")
      }
      try await stage.focusNamed("huge")
      #expect(try await stage.get("Range.Value") == .double(1e20))
      try await stage.script("find('box').ariaLabel = 'x'.repeat(199) + '😀'")
      try await stage.focus("#box")
      try await stage.shows("Element.Name", .string(String(repeating: "x", count: 199) + "\u{fffd}"))
      try await stage.script("document.querySelector('#box').ariaLabel = 'box'")
      for name in ["box", "radio", "switch"] {
        try await stage.focusNamed(name)
        try await stage.write("Toggle.Checked", .boolean(true))
        #expect(try await stage.held("checked:\(name)") == "true", "\(name)")
        let refusal = try await errorName { try await stage.write("Toggle.Checked", .boolean(false)) }
        #expect(refusal == (name == "radio" ? "Failed" : nil), "\(name)")
      }
      for name in ["Country", "Send"] {
        try await stage.focus("#\(name)")
        try await stage.shows("Element.Name", .string(name))
      }
      try await stage.focus("button")
      try await stage.shows("Element.Name", .string("Press me"))
      #expect(try await stage.get("Element.Role") == .string("button"))
      #expect(try await stage.get("Text.Content") == nil)
      // Back to the page itself.
      try await stage.script("document.activeElement.blur()")
      try await stage.shows("Element.Role", nil)
      try await stage.shows("Document.Title", .string("Entries"))
    }
  }

  @Test func secretsNeverLeaveThePage() async throws {
    try await FirefoxStage.with { stage in
      let watch = try await stage.desktop.start([Products.focusctl, "--address", stage.desktop.bus.address, "watch"])
      try await stage.open("secrets.html")
      let secrets = [
        "password", "code", "card", "named", "identified", "pin", "check", "number", "verified", "camel", "discs",
        "rich",
      ]
      for name in secrets {
        try await stage.focusNamed("open")
        try await stage.shows("Text.Content", .string("open"))
        try await stage.focusNamed(name)
        #expect(try await stage.get("Element.Role") == .string("password"), "\(name)")
        #expect(try await stage.get("Text.Content") == .string("AccessDenied"), "\(name)")
        #expect(try await stage.client.readAll().keys.filter { $0.contains(".Text.") }.isEmpty, "\(name)")
        // Secret once, secret for good.
        try await stage.script(
          "const e = find('\(name)'); e.type = 'text'; e.removeAttribute('autocomplete'); "
            + "for (const name of ['name', 'id', 'style']) e.removeAttribute(name)")
        try await stage.focusNamed("open")
        try await stage.focusNamed(name)
        #expect(try await stage.get("Text.Content") == .string("AccessDenied"), "\(name)")
        try await stage.write("Text.Content", .string("filled in"))
        try await stage.holds(name, "filled in")
      }
      // Shown by a button before it has ever had focus.
      try await stage.focusNamed("show")
      try await stage.script("find('hidden').type = 'text'")
      try await stage.focusNamed("hidden")
      #expect(try await stage.get("Text.Content") == .string("AccessDenied"))
      // Before the button of the mouse is down.
      try await stage.run("click", "[aria-label=press]")
      try await stage.focusNamed("touched")
      #expect(try await stage.get("Text.Content") == .string("AccessDenied"))
      // In a shadow tree of which an event names no more than the host, on which the driver cannot click.
      try await stage.script(
        "find('closed').dispatchEvent(new PointerEvent('pointerdown', { bubbles: true, composed: true })); reveal()")
      try await stage.shows("Element.Name", .string("within"))
      #expect(try await stage.get("Text.Content") == .string("AccessDenied"))
      // In an element that has what is in it as its name.
      try await stage.script("document.querySelector('main').focus()")
      try await stage.shows("Element.Name", .string("Account details"))
      try await stage.script("document.querySelector('#labelled').focus()")
      try await stage.shows("Element.Name", .string("Login by name"))
      // By the page's own script, one that came later.
      try await stage.focusNamed("reveal")
      try await stage.script(
        "document.body.insertAdjacentHTML('beforeend', '<input aria-label=late type=password value=hunter2>')")
      try await stage.run("keys", "Enter")
      try await stage.focusNamed("late")
      #expect(try await stage.get("Text.Content") == .string("AccessDenied"))
      watch.terminate()
      try await watch.finish()
      let told = watch.progress.now.output.joined()
      #expect(told.contains("open") && !told.contains("hunter2") && !told.contains("filled"))
    }
  }

  /// What the keyboard goes to then is not the page's.
  @Test func theAddressBarAndAPrivateWindowHaveNoElement() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      try await stage.write("Text.Content", .string("mine"))
      try await stage.run("chrome", "gURLBar.focus(); return true")
      try await stage.shows("Element.Name", nil)
      try await stage.shows("Document.Title", .string("Entries"))
      #expect(
        try await errorName { try await stage.client.write("org.focusd.Text.SelectedText", .string("x")) }
          == "NotFocused")
      #expect(try await errorName { try await stage.runs("Edit.Undo") } == "Failed")
      #expect(try await stage.held("entry") == "mine")
      // What the page changes meanwhile does not bring it back.
      try await stage.script("find('entry').value = 'changed'; find('entry').dispatchEvent(new Event('input'))")
      try await stage.run("chrome", "gBrowser.selectedBrowser.focus(); return true")
      try await stage.shows("Element.Name", .string("entry"))
      try await stage.shows("Text.Content", .string("changed"))
      try await stage.run("chrome", "OpenBrowserWindow({ private: true }); return true")
      try await eventually("nothing in front") { try await stage.client.fields("FocusPath").isEmpty }
      try await stage.run(
        "chrome",
        """
        for (const other of Services.wm.getEnumerator("navigator:browser")) if (other !== window) other.close();
        window.focus();
        return true;
        """)
      try await stage.shows("Text.Content", .string("changed"))
    }
  }

  @Test func aSiteThatIsNeverSharedIsNot() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      let first = try #require(try await stage.run("handle"))
      try await stage.run("new", "tab")
      try await stage.run("never", "http://127.0.0.1/*")
      try await eventually("the tabs alone") { try await stage.client.fields().count == 2 }
      try await stage.run("switch", first)
      // Nor one that is loaded anew.
      try await stage.open("entries.html")
      try await stage.focus("entry")
      try await eventually("the tab") { try await stage.client.commands()["org.focusd.Tab.New"] == true }
      #expect(try await stage.get("Document.Title") == nil)
      #expect(try await stage.get("Text.Content") == nil)
    }
  }

  /// A sandboxed frame is not of the page that shows its site.
  @Test func aSandboxedFrameOfASiteThatIsNeverSharedIsNot() async throws {
    try await FirefoxStage.with { stage in
      let watch = try await stage.desktop.start([Products.focusctl, "--address", stage.desktop.bus.address, "watch"])
      try await stage.open("sandboxed.html")
      let first = try #require(try await stage.run("handle"))
      try await stage.run("new", "tab")
      // What is shared is taken over anew, in the frames that there are.
      for site in ["http://example.org/*", "http://localhost/*"] { try await stage.run("never", site) }
      try await stage.run("switch", first)
      try await stage.focusNamed("entry")
      try await stage.script("enter()")
      try await stage.holds("inside", "true")
      try await stage.shows("Element.Name", nil)
      try await stage.focusNamed("entry")
      watch.terminate()
      try await watch.finish()
      let told = watch.progress.now.output.joined()
      #expect(told.contains("entry") && !told.contains("vault") && !told.contains("account"))
    }
  }

  @Test func nothingIsSharedBeforeTheUserSaysSo() async throws {
    try await FirefoxStage.with(isShared: false) { stage in
      try await stage.open("entries.html")
      try await eventually("a tab") { try await stage.client.commands()["org.focusd.Tab.New"] == true }
      try await stage.focus("entry")
      #expect(
        try await stage.client.keys().filter { $0 != "org.focusd.Document.Title" && $0 != "org.focusd.Document.Url" }
          .isEmpty)
      #expect(try await stage.get("Document.Title") == nil)
      #expect(try await stage.client.commands()["org.focusd.Edit.Undo"] == nil)
      // The tabs are driven all the same.
      try await stage.runs("Tab.New")
      try await eventually("two tabs") { (try await stage.run("handles") as? [Any])?.count == 2 }
      try await stage.runs("View.ZoomIn")
      // One after another, without a look at which tab is in front.
      for command in ["Tab.Close", "Tab.New", "Tab.Close"] { try await stage.runs(command) }
      try await eventually("one tab") { (try await stage.run("handles") as? [Any])?.count == 1 }
      try await stage.run("share", "all")
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      // And takes it back.
      let first = try #require(try await stage.run("handle"))
      try await stage.run("new", "tab")
      try await stage.run("share", "none")
      try await eventually("nothing of a page") { try await stage.get("Document.Title") == nil }
      try await eventually("the tabs alone") { try await stage.client.fields().count == 2 }
      // And shares it again, without a new page.
      try await stage.run("share", "all")
      try await stage.run("switch", first)
      try await stage.shows("Document.Title", .string("Entries"))
      try await stage.focusNamed("upper")
    }
  }

  @Test func tabsWindowsAndFrames() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      try await stage.write("Text.Content", .string("first tab"))
      let first = try #require(try await stage.run("handle"))
      let second = try #require(try await stage.run("new", "tab"))
      try await stage.open("entries.html")
      try await stage.focusNamed("area")
      try await stage.write("Text.Content", .string("second tab"))
      try await stage.runs("Tab.Previous")
      try await stage.shows("Text.Content", .string("first tab"))
      try await stage.runs("Tab.Next")
      try await stage.shows("Text.Content", .string("second tab"))
      try await stage.run("switch", first)
      try await stage.shows("Text.Content", .string("first tab"))
      // One that another extension has hidden is not next.
      for operation in ["hideTab", "showTab"] {
        try await stage.run("chrome", "const tabs = window.gBrowser; tabs.\(operation)(tabs.tabs[1])")
        try await stage.runs("Tab.Next")
        try await stage.shows("Text.Content", .string(operation == "hideTab" ? "first tab" : "second tab"))
      }
      try await stage.run("switch", first)
      try await stage.shows("Text.Content", .string("first tab"))
      // A window of its own.
      let window = try #require(try await stage.run("new", "window"))
      try await stage.open("entries.html")
      try await stage.focusNamed("upper")
      try await stage.write("Text.Content", .string("window"))
      try await stage.shows("Text.Content", .string("WINDOW"))
      try await stage.run("switch", second)
      try await stage.shows("Text.Content", .string("second tab"))
      try await stage.run("switch", window)
      try await stage.shows("Text.Content", .string("WINDOW"))
      try await stage.run("close")
      try await stage.run("switch", second)
      try await stage.shows("Text.Content", .string("second tab"))
      try await stage.runs("Tab.Close")
      try await stage.run("switch", first)
      try await stage.shows("Text.Content", .string("first tab"))
      try await frames(stage)
    }
  }

  private func frames(_ stage: FirefoxStage) async throws {
    try await stage.open("frames.html")
    try await stage.focusNamed("outside")
    try await stage.script("inside()")
    try await stage.shows("Element.Name", .string("entry"))
    try await stage.write("Text.Content", .string("in the frame"))
    #expect(try await stage.held("inside") == "in the frame")
    try await stage.focusNamed("outside")
    try await stage.write("Text.Content", .string("outside"))
    #expect(try await stage.held("outside") == "outside")
    // A page that goes takes its elements along, and brings them back.
    try await stage.open("rewritten.html")
    try await stage.shows("Document.Title", .string("Rewritten"))
    try await eventually("the tab alone") { try await stage.client.fields("FocusPath").count == 1 }
    try await stage.script("rewrite()")
    try await stage.focusNamed("one")
    try await stage.write("Text.Content", .string("written anew"))
    #expect(try await stage.held("one") == "written anew")
    try await stage.focusNamed("two")
    try await stage.runs("Navigation.Back")
    try await stage.shows("Document.Title", .string("Frames"))
    try await stage.focusNamed("outside")
    try await stage.write("Text.Content", .string("back"))
    #expect(try await stage.held("outside") == "back")
  }

  /// Killed, and turned off and on again: no field stays behind, and all come back.
  @Test func theHostAndTheExtensionComeBack() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      try await stage.write("Text.Content", .string("still here"))
      let before = try await stage.host()
      kill(before, SIGKILL)
      try await eventually("another host") {
        let now = try await stage.host()
        return now > 0 && now != before
      }
      try await stage.shows("Text.Content", .string("still here"))
      try await stage.write("Text.Content", .string("and back"))
      #expect(try await stage.held("entry") == "and back")
      try await stage.driver.enable(false)
      try await eventually("no field") { try await stage.client.fields().isEmpty }
      try await stage.driver.enable(true)
      try await stage.shows("Text.Content", .string("and back"))
      try await stage.write("Text.Content", .string("once more"))
      #expect(try await stage.held("entry") == "once more")
    }
  }

  @Test func aHostilePageLiesOnlyToItself() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("hostile.html")
      for name in ["entry", "after"] {
        try await stage.focusNamed(name)
        #expect(try await stage.write("Text.Content", .string("\(name) 😀")) == .string("\(name) 😀"))
        #expect(try await stage.held(name) == "\(name) 😀")
      }
      // A form whose properties are its entries.
      try await stage.focusNamed("form")
      try await stage.script("flood(1500)")
      #expect(try await stage.client.call(.ping).isEmpty)
      try await stage.open("entries.html")
      try await stage.focusNamed("entry")
      #expect(try await stage.client.fields().count <= 10)
      // D-Bus cannot carry the whole, and the parts can be replaced.
      try await stage.write("Text.Content", .string("before"))
      try await stage.script("find('entry').value = 'a\\u0000b'")
      try await stage.shows("Text.Length", .int32(3))
      try await stage.write("Text.Selection", .structure([.int32(2), .int32(3)]))
      try await stage.write("Text.SelectedText", .string("end"))
      #expect(try await stage.held("entry") == "a\0end")
    }
  }

  /// A frame of another site that says that it has the keyboard, and that it comes and goes.
  @Test func whoHasTheKeyboardIsNotForAPageToSay() async throws {
    try await FirefoxStage.with { stage in
      try await stage.open("besieged.html")
      try await stage.focusNamed("entry")
      try await stage.holds("enough", "true")
      #expect(try await stage.get("Element.Name") == .string("entry"))
      try await stage.write("Text.SelectedText", .string("dictated"))
      #expect(try await stage.held("entry") == "dictated")
    }
  }
}
