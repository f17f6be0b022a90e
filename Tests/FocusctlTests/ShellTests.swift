import BusSupport
import Foundation
import TestSupport
import Testing

/// `focusctl` in shells, against the real daemon.
@Suite struct ShellTests {
  @Test func anotherMachineIsReachedThroughSsh() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register text1 demo.Form.Number=1 --focus")
      // Does what ssh does with a command that it is given, on this machine.
      let ssh = TestDesktop.standIn(
        "ssh",
        """
        #!/bin/bash
        echo "$*" >>"$HOME/ssh.log"
        while [ "$1" != -- ]; do shift; done
        [ "$2" = desk ] || { echo "no route to $2" >&2; exit 255; }
        exec bash -c "${*:3}"
        """)
      let bridge =
        #"exec sh -c 'exec systemd-stdio-bridge --bus-path="${DBUS_SESSION_BUS_ADDRESS:-unix:path=$XDG_RUNTIME_DIR/bus}"'"#
      let result = try await desktop.shell(
        ssh + """
          focusctl -H desk:2222 update Number +4 && focusctl get Number --host desk
          focusctl -H nowhere get Number; status=$?; cat ~/ssh.log; echo $status
          """)
      #expect(
        result.output == [
          "5", "-xT -p 2222 -- desk \(bridge)", "-xT -- desk \(bridge)", "-xT -- nowhere \(bridge)", "3",
        ], "\(result)")
      #expect(result.errors.first == "no route to nowhere")
      #expect(result.errors.last?.hasPrefix("focusctl: no bus through ssh at 'nowhere': ") == true)
    }
  }

  @Test func aDaemonThatIsSilentIsLeftInTime() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        pid=$(busctl --user status org.focusd.Focus1 | sed -n 's/^PID=//p')
        kill -STOP $pid
        focusctl wait demo.Form.Number --timeout 10ms; echo $?
        kill -CONT $pid
        """)
      #expect(result.output == ["1"], "\(result)")
    }
  }

  @Test func whatWasProbablyMeantIsSaid() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl register text1 demo.Form.Number=1 --focus
        focusctl focus txet1; echo $?
        focusctl get Number --field txet1
        focusctl watch Number --field zebra
        focusctl set Nubmer 3; echo $?
        focusctl wait no.Such.Key --timeout 10ms; echo $?
        """)
      #expect(result.output == ["text1", "4", "1", "1"])
      #expect(
        result.errors == [
          "focusctl: there is no field 'txet1'; did you mean 'text1'?",
          "focusctl: there is no field 'txet1'; did you mean 'text1'?",
          "focusctl: there is no field 'zebra'; 'focusctl list' shows all fields",
          "focusctl: 'Nubmer' is nil: neither the focused field, its ancestors, its scene nor a session field publishes it; did you mean 'Number'?",
          "focusctl: 'no.Such.Key' is still nil after 10 ms",
        ])
    }
  }

  private static let typed = [
    ("focusctl regi", "focusctl register"), ("focusctl focus te", "focusctl focus text1"),
    ("focusctl get --field te", "focusctl get --field text1"), ("focusctl get dem", "focusctl get demo.Form.Items"),
    ("focusctl get Ite", "focusctl get Items"), ("focusctl get --prev", "focusctl get --previous"),
    ("focusctl --prev", "focusctl --previous"),
    ("focusctl get demo.Form.Items/0/na", "focusctl get demo.Form.Items/0/name"),
    ("focusctl publish text1 dem", "focusctl publish text1 demo.Form.Items="),
    ("focusctl register x --scope=sc", "focusctl register x --scope=scene"),
    ("focusctl register x --scope se", "focusctl register x --scope session"),
    ("focusctl register x --active de", "focusctl register x --active demo.Form.Items="),
    ("focusctl get Form.I", "focusctl get Form.Items"),
  ]

  @Test(arguments: ["bash", "zsh", "fish"]) func aTabCompletes(shell: String) async throws {
    let completions = TestDesktop.project + "/Systemd/completions"
    let lines = Self.typed.map { "'\($0.0)'" }.joined(separator: " ")
    // bash and fish tell their completions; zsh does so at a prompt alone.
    let script =
      switch shell {
      case "bash":
        """
        source \(completions)/focusctl.bash
        for line in \(lines); do
          IFS=' ' read -ra words <<<"${line//=/ = }"
          COMP_LINE=$line COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1))
          $(complete -p focusctl | sed 's/.*-F \\([^ ]*\\).*/\\1/') focusctl
          [[ $line != *=* ]] || COMPREPLY=("${line##* }${COMPREPLY[0]}") COMPREPLY=("${COMPREPLY[0]/=sc/=}")
          echo "${line% *} ${COMPREPLY[*]}"
        done
        """
      case "zsh": "zsh -f \(TestDesktop.project)/Tests/FocusctlTests/complete.zsh \(completions) \(lines)"
      default:
        """
        fish --no-config -c 'source \(completions)/focusctl.fish
          for line in $argv
            echo (string replace -r " [^ ]*\\$" "" $line) (complete -C $line | string replace -r "\\t.*" "")
          end' \(lines)
        """
      }
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell(#"focusctl register text1 --focus 'demo.Form.Items:aa{sv}=[{"name":"a"}]'"#)
      try await desktop.completes(script, as: Self.typed.map(\.1), extra: ["TERM": "dumb"])
    }
  }

  /// What is offered is taken as it is: no key that is too short or an id that is there where a new field is named, and no
  /// text that would mean something else.
  @Test func whatCannotBeUsedIsNotOffered() async throws {
    try await TestDesktop.with { desktop in
      let fields =
        #"focusctl register text1 --focus 'demo.Form.Path=C:\temp' demo.Form.Draft=--draft demo.Form.Less:i=-5"#
      #expect(try await desktop.shell(fields).output == ["text1"])
      try await desktop.completes(
        #"""
        for words in 'register x Pat' 'hold x Pat' 'bind x --live Pat' 'register x --active Pat' 'register tex' 'hold tex' \
          'bind tex' 'register x demo.Form.P' 'publish text1 Pat' 'set Path C' 'set Draft ' 'set Draft -- ' 'set Less '; do
          IFS=' ' read -ra words <<<"$words."; words[-1]=${words[-1]%.}
          echo "$(focusctl __complete "${words[@]}" | cut -f 1)"
        done
        """#,
        as: ["", "", "", "", "", "", "", "demo.Form.Path=", "Path=", #"C:\temp"#, "", "--draft", "-5"])
    }
  }

  /// bash splits a line at `=`, too, and says nothing of blanks but in the line itself.
  @Test func aWordAfterAnAssignmentIsOneOfItsOwn() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell("focusctl register text1 --focus demo.Form.Items=a")
      try await desktop.completes(
        """
        source \(TestDesktop.project)/Systemd/completions/focusctl.bash
        tell() { COMP_LINE=$1 COMP_WORDS=("${@:2}") COMP_CWORD=$(($# - 2)); _focusctl focusctl; echo "${COMPREPLY[*]}"; }
        tell 'focusctl hold p a.b.C= --comm' focusctl hold p a.b.C = --comm
        tell 'focusctl register x --scope=se' focusctl register x --scope = se
        tell "focusctl get 'demo.Form.It" focusctl get "'demo.Form.It"
        # As bash-completion leaves it of a line after 'sudo'.
        tell ' focusctl register x --scope=sc' focusctl register x --scope = sc
        """, as: ["--command", "session", "demo.Form.Items", "scene"])
    }
  }

  /// What a program wrote stays one word, and is never run.
  @Test func whatIsSpecialWithinQuotesIsNotOffered() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell(
        #"""
        focusctl register text1 --focus 'demo.Form.Text:s=a$(id)' && focusctl publish text1 'demo.Form.Back:s=a`id`'
        focusctl publish text1 "demo.Form.Single:s=a'b" && focusctl publish text1 'demo.Form.Double:s=a"b' 'demo.Form.Plain:s=a b'
        """#)
      let keys = ["Text", "Back", "Single", "Double", "Plain"]
      try await desktop.completes(
        """
        source \(TestDesktop.project)/Systemd/completions/focusctl.bash
        tell() {
          COMP_LINE="focusctl set demo.Form.$1 $2" COMP_WORDS=(focusctl set "demo.Form.$1" "$2") COMP_CWORD=3
          _focusctl focusctl
          echo "$1: ${COMPREPLY[*]}"
        }
        \(keys.map { "tell \($0) \\\"; tell \($0) \\'; tell \($0) ''" }.joined(separator: "\n"))
        """,
        as: [
          "Text:", "Text: a$(id)", #"Text: a\$\(id\)"#, "Back:", "Back: a`id`", #"Back: a\`id\`"#, "Single: a'b",
          "Single:", #"Single: a\'b"#, "Double:", #"Double: a"b"#, #"Double: a\"b"#, "Plain: a b", "Plain: a b",
          #"Plain: a\ b"#,
        ])
    }
  }

  @Test(arguments: [
    ("s", "two\nlines\n"), ("s", "it's \"quoted\" \\n"), ("s", "日本語 🏳️‍🌈 \u{1b}[1m"), ("s", " -8 "), ("s", ""),
    ("s", "--json"),
    ("d", "nan"), ("d", "-inf"), ("d", "0.1"), ("d", "5e-324"), ("x", "-9223372036854775808"),
    ("t", "18446744073709551615"), ("ay", "[0,255,10,39]"), ("as", #"["a\nb","\"","\\","日"]"#), ("b", "true"),
    ("a{sv}", #"{"a":{"type":"t","data":18446744073709551615},"b":{"type":"d","data":"nan"}}"#), ("v", "\"8\""),
    ("(sd)", #"["x",1.0]"#), ("g", "a{sv}"), ("o", "/a/b"), ("y", "255"), ("ad", #"["nan",-0.0,1e+300]"#),
  ])
  func valuesSurviveGetAndSet(type: String, text: String) async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl register a "demo.Form.Value:\(type)=$TEXT" && focusctl register b 'demo.Form.Value:\(type)'="$OTHER"
        before=$(focusctl get --field a demo.Form.Value --json)
        value=$(focusctl get --field a demo.Form.Value; echo .) && value=${value%.} && value=${value%$'\\n'}
        focusctl set --field b demo.Form.Value -- "$value"
        after=$(focusctl get --field b demo.Form.Value --json)
        focusctl get --field b demo.Form.Value | tail -c +1 >/dev/null
        [ "$before" = "$after" ] || echo "$before is not $after"
        """, extra: ["TEXT": text, "OTHER": Self.other[type] ?? text])
      #expect(result.output == ["a", "b"] && result.errors.isEmpty, "\(result)")
    }
  }

  /// Another value of the type, which is overwritten.
  private static let other = [
    "s": "other", "d": "1", "x": "1", "t": "1", "ay": "[]", "as": "[]", "b": "false", "a{sv}": "{}", "v": "true",
    "(sd)": #"["",0]"#, "g": "s", "o": "/", "y": "1", "ad": "[]",
  ]
}
