import BusSupport
import DBusTypes
import Foundation
import TestSupport
import Testing

@testable import focusctl

/// `focusctl menu` with programs that offer menus.
@Suite struct MenuTests {
  private static let focused: Named = [("focus", .boolean(true))]

  private static let lines = [
    "Edit › Undo\tCtrl+Z", "Edit › Undo All", "View › Lines › Wrap\tF6\toff", "View › Lines › Numbers\t\ton",
    "Tools › Twin\tF1", "Tools › Twin\tF2", "Tools › Same\t\t\tc", "Tools › Same\t\t\td",
    #"Tools › Über\t"it's" $HOME \\n"#, "Edit › Paste\tCtrl+V\tdisabled",
  ]

  @Test func aLineIsAnItem() async throws {
    try await TestDesktop.with { desktop in
      _ = try await MenuStage(desktop, options: Self.focused)
      let result = try await desktop.shell("focusctl menu; focusctl menu --json | head -n 1")
      let json =
        #"{"id":"win.paste","menus":["Edit"],"label":"Paste","accelerator":"Ctrl+V","enabled":false,"checked":null}"#
      #expect(result.output == Self.lines + [json] && result.errors.isEmpty, "\(result)")
    }
  }

  /// Each line of the list, as it is or up to a tab, and what else means an item.
  private static let words = [
    (lines[0], "Activate win.undo"), ("Edit › Undo", "Activate win.undo"), ("win.undo", "Activate win.undo"),
    ("undo", "Activate win.undo"), ("do a", "Activate win.undo-all"), (lines[1], "Activate win.undo-all"),
    (lines[4], "Activate a"), (lines[5], "Activate b"), ("Tools › Twin\tF2\tdisabled", "Activate b"),
    ("b", "Activate b"),
    (lines[6], "Activate c"), (lines[7], "Activate d"), ("Tools › Same\t\ton\td", "Activate d"),
    (lines[8], "Activate odd"), (#"Tools › Über\t"it's" $HOME \\n"#, "Activate odd"), ("über", "Activate odd"),
    (#"Über\t"it's" $HOME \\n"#, "Activate odd"), (#"r\t"it"#, "Activate odd"),
    (lines[9], "Activate win.paste"), (lines[2], "Activate win.wrap"), (lines[3], "Activate win.numbers"),
    ("View › Lines › Numbers\t\toff", "Activate win.numbers"), ("lines › w", "Activate win.wrap"),
  ]

  @Test func anItemIsRun() async throws {
    try await TestDesktop.with { desktop in
      let stage = try await MenuStage(desktop, options: Self.focused)
      for (word, _) in Self.words {
        let result = try await desktop.focusctl("menu", word)
        #expect(result.succeeded && result.text.isEmpty && result.errors.isEmpty, "\(word): \(result)")
      }
      #expect(stage.calls == Self.words.map(\.1))
    }
  }

  /// As in programs of Lazarus.
  @Test func ofItemsThatLookAlikeTheOneThatIsEnabledIsMeant() async throws {
    try await TestDesktop.with { desktop in
      let items = [("a", false), ("b", true), ("c", false)].map {
        MenuStage.Item(id: $0, menus: ["Tools"], label: "Twin", isEnabled: $1)
      }
      let other = MenuStage.Item(id: "d", menus: ["File"], label: "Twin", isEnabled: false)
      let stage = try await MenuStage(desktop, "editor", items + [other], options: Self.focused)
      #expect(try await desktop.focusctl("menu", "Tools › Twin").succeeded)
      // This may be the other, too.
      #expect(try await desktop.focusctl("menu", "twin").status == 4)
      #expect(stage.calls == ["Activate b"])
    }
  }

  @Test func aLineWithoutKeysIsThatOfTheItemWithoutAny() async throws {
    try await TestDesktop.with { desktop in
      let items = ["", "F1"].map { MenuStage.Item(id: "id\($0)", menus: ["Tools"], label: "Twin", keys: $0) }
      let stage = try await MenuStage(desktop, "editor", items, options: Self.focused)
      let result = try await desktop.shell("focusctl menu | while IFS= read -r line; do focusctl menu \"$line\"; done")
      #expect(result.output.isEmpty && result.errors.isEmpty, "\(result)")
      #expect(stage.calls == ["Activate id", "Activate idF1"])
    }
  }

  @Test func anItemIsChecked() async throws {
    try await TestDesktop.with { desktop in
      let stage = try await MenuStage(desktop, options: Self.focused)
      let result = try await desktop.shell(
        """
        focusctl menu wrap on && focusctl menu Wrap off && focusctl menu Wrap toggle && focusctl menu numbers on
        focusctl menu Undo on; echo $?; focusctl menu Wrap maybe; echo $?
        """)
      #expect(result.output == ["4", "2"], "\(result)")
      #expect(
        result.errors == [
          "focusctl: 'Edit › Undo' does not show that it can be checked; 'menu ITEM' without 'on' runs it",
          "focusctl: 'menu ITEM' takes 'on', 'off' or 'toggle', not 'maybe'",
        ])
      #expect(
        stage.calls == ["Check win.wrap true", "Check win.wrap false", "Activate win.wrap", "Check win.numbers true"])
    }
  }

  @Test func whatIsNotOneItemIsRefused() async throws {
    try await TestDesktop.with { desktop in
      let many = (1...7).map { MenuStage.Item(id: "w\($0)", menus: ["Window"], label: "Window \($0)") }
      let pasted = ["Many › Paste", "Many › Paste (2)"].map { MenuStage.Item(id: $0, menus: ["Many"], label: "Paste") }
      let stage = try await MenuStage(desktop, "editor", MenuStage.items + many + pasted, options: Self.focused)
      let result = try await desktop.shell(
        """
        for word in und 'Many › Paste' 'Tools › Twin' same Undoo 'Edit › ' window nothing ''; do
          focusctl menu "$word"; echo $?
        done
        """)
      #expect(result.output == ["4", "4", "4", "4", "1", "4", "4", "1", "2"], "\(result)")
      #expect(
        result.errors == [
          "focusctl: 'und' is ambiguous: 'Edit › Undo', 'Edit › Undo All'",
          "focusctl: 'Many › Paste' is ambiguous: 'Many › Paste', 'Many › Paste (2)'; "
            + "'focusctl run org.focusd.Menu.Activate ID' takes each of these ids",
          "focusctl: 'Tools › Twin' is ambiguous: 'a', 'b'",
          "focusctl: 'same' is ambiguous: 'c', 'd'",
          "focusctl: no item 'Undoo' in these menus; did you mean 'Undo'?",
          "focusctl: 'Edit › ' is ambiguous: 'Edit › Paste', 'Edit › Undo', 'Edit › Undo All'",
          "focusctl: 'window' is ambiguous: "
            + (1...5).map { "'Window › Window \($0)'" }.joined(separator: ", ") + " and 2 more",
          "focusctl: no item 'nothing' in these menus; 'focusctl menu' lists them",
          "focusctl: ITEM is empty; 'focusctl menu' alone lists the items",
        ])
      #expect(stage.calls.isEmpty)
    }
  }

  @Test func withoutMenusABridgeIsNamed() async throws {
    let bridge = "if focusd-menus(8) does not run: 'systemctl --user enable --now focusd-menus'"
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl menu; echo $?; focusctl menu --previous; echo $?
        focusctl register a demo.A.B=1 --focus >/dev/null; focusctl menu; focusctl menu --field a; focusctl menu --field b
        """)
      #expect(result.output == ["1", "1"], "\(result)")
      #expect(
        result.errors == [
          "focusctl: nothing that has focus shows its menus; \(bridge)", "focusctl: no field had focus before",
          "focusctl: nothing that has focus shows its menus; \(bridge)",
          "focusctl: neither the field 'a' nor its scene shows its menus; \(bridge)",
          "focusctl: there is no field 'b'; 'focusctl list' shows all fields",
        ])
    }
  }

  @Test func theProgramsErrorIsSaid() async throws {
    try await TestDesktop.with { desktop in
      let stage = try await MenuStage(desktop, options: Self.focused)
      stage.rule("Activate") { _, _, _ in .error("org.focusd.Focus1.Error.Disabled", "'Paste' is disabled now") }
      let disabled = try await desktop.focusctl("menu", "Paste")
      #expect(disabled.status == 4 && disabled.errors == ["focusctl: 'Paste' is disabled now"], "\(disabled)")
      for answer: Answer in [.values([]), .values([.int32(1)]), .values([.strings(["a"])])] {
        stage.rule("Items") { _, _, _ in answer }
        let result = try await desktop.focusctl("menu")
        #expect(
          result.status == 4
            && result.errors == [
              "focusctl: the program's reply to org.focusd.Menu.Items is not a list of items, 'a(sasssbi)'"
            ], "\(result)")
      }
    }
  }

  /// Another window comes to the front while the first tells its items, one of which has the same name there.
  @Test func anItemIsRunWhereItWasListed() async throws {
    try await TestDesktop.with { desktop in
      let (first, other) = (try await desktop.peer(), try await desktop.peer())
      let menus = try await MenuStage(desktop, "first", options: Self.focused, owner: first)
      let others = try await MenuStage(desktop, "other", owner: other)
      menus.rule("Items") { _, _, _ in .hold }
      let run = try await desktop.start([Products.focusctl, "--address", desktop.bus.address, "menu", "win.undo"])
      try await menus.whileAsked { try await other.focus("other") }
      #expect(try await run.finish() == .status(0), "\(run.progress.now)")
      #expect(menus.calls == ["Activate win.undo"] && others.calls.isEmpty)
    }
  }

  /// Bridges offer menus by a scene-scoped field beside the one that has focus, and then a launcher takes focus.
  @Test func menusOfAnotherFieldAreThoseOfItsScene() async throws {
    try await TestDesktop.with { desktop in
      let owner = try await desktop.peer()
      func within(_ id: String, _ scope: String = "scene") -> Named {
        [("parent", Focus1.fieldPath(id)), ("scope", .string(scope))]
      }
      for id in ["window", "other"] { try await owner.register(id) }
      let stage = try await MenuStage(desktop, "menus", options: within("window"), owner: owner)
      let wrong = try await MenuStage(desktop, "wrong", options: within("other"), owner: owner)
      try await owner.register("panel", [], within("window", "field"))
      try await owner.register("entry", [], within("panel", "field") + Self.focused)
      #expect(try await desktop.focusctl("menu", "Undo").succeeded)
      try await owner.register("launcher", [], Self.focused)
      for arguments in [["--previous"], ["--field", "entry"], ["--field", "panel"], ["--field", "menus"]] {
        let result = try await desktop.focusctl(["menu", "win.undo"] + arguments)
        #expect(result.succeeded, "\(result)")
      }
      #expect(stage.calls == Array(repeating: "Activate win.undo", count: 5) && wrong.calls.isEmpty)
      // The field's own menus come first.
      let own = try await MenuStage(desktop, "own", options: within("panel", "field"), owner: owner)
      #expect(try await desktop.focusctl("menu", "win.undo", "--field", "own").succeeded)
      #expect(own.calls == ["Activate win.undo"])
      #expect(try await desktop.focusctl("menu", "--field", "launcher").status == 1)
    }
  }

  @Test func aTerminalObeysNoLabel() async throws {
    let hostile = "\u{1b}]0;x\u{7}\u{9b}1m\n\u{202e}abc"
    try await TestDesktop.with { desktop in
      let items = ["1", "2"].map {
        MenuStage.Item(id: "\(hostile)\($0)", menus: [hostile], label: hostile, keys: hostile)
      }
      let stage = try await MenuStage(desktop, "editor", items, options: Self.focused)
      let script = "focusctl menu; focusctl menu --json; focusctl menu ']0;'; focusctl menu \"$HOSTILE\""
      let extra = ["TERM": "dumb", "HOSTILE": hostile]
      let text = try await desktop.terminal(400, 24, script, extra: extra).result().text
      #expect(text.contains("\\u001b]0;x") && text.contains("ambiguous"), "\(text)")
      for scalar in "\u{1b}\u{7}\u{9b}\u{202e}".unicodeScalars { #expect(!text.unicodeScalars.contains(scalar)) }
      // Two lines for two items into a pipe as well, and each of them means its item.
      stage.rule("Items") { _, _, _ in
        .values([.array(DBusArray(known: items[0].value.type, [items[0].value]))])
      }
      let piped = try await desktop.shell("focusctl menu | wc -l; focusctl menu | xargs -d '\\n' focusctl menu --")
      #expect(piped.output == ["1"] && piped.errors.isEmpty, "\(piped)")
      #expect(stage.calls == ["Activate \(items[0].id)"])
    }
  }

  private static let typed = [
    ("focusctl menu Ed", #"Edit\ ›\ Paste Edit\ ›\ Undo Edit\ ›\ Undo\ All"#),
    ("focusctl menu Vi", #"View\ ›\ Lines\ ›\ Wrap"#), (#"focusctl menu Edit\ ›\ P"#, #"Edit\ ›\ Paste"#),
    ("focusctl menu Pas", "Paste"), ("focusctl menu Wrap to", "toggle"),
  ]

  /// The labels have spaces, which shells escape in a word.
  @Test(arguments: ["bash", "fish", "zsh"]) func aTabCompletesAnItem(shell: String) async throws {
    let completions = TestDesktop.project + "/Systemd/completions"
    // zsh tells its completion at a prompt alone, and the only one.
    let typed = shell == "zsh" ? Self.typed.dropFirst() : Self.typed[...]
    let lines = typed.map { "'\($0.0)'" }.joined(separator: " ")
    let script =
      switch shell {
      case "bash":
        """
        source \(completions)/focusctl.bash
        for line in \(lines); do
          # As readline splits it: at spaces that no backslash escapes.
          COMP_LINE=$line IFS=$'\\n' COMP_WORDS=($(sed 's/\\\\ /\\x01/g; s/ /\\n/g; s/\\x01/\\\\ /g' <<<"$line"))
          COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
          _focusctl focusctl
          IFS=' '; echo "${COMPREPLY[*]}"
        done
        """
      case "zsh":
        """
        zsh -f \(TestDesktop.project)/Tests/FocusctlTests/complete.zsh \(completions) \(lines) |
          sed 's/^focusctl menu //; s/^Wrap //'
        """
      default:
        """
        fish --no-config -c 'source \(completions)/focusctl.fish
          for line in $argv
            echo (complete -C $line | string replace -r "\\t.*" "" | string escape -n)
          end' \(lines)
        """
      }
    try await TestDesktop.with { desktop in
      _ = try await MenuStage(desktop, "editor", Array(MenuStage.items.prefix(4)), options: Self.focused)
      try await desktop.completes(script, as: typed.map(\.1), extra: ["TERM": "dumb", "LC_ALL": "C.UTF-8"])
    }
  }
}
