import BusSupport
import TestSupport
import Testing

/// `focusctl publish`, `withdraw` and what else names the keys of a field, against the real daemon.
@Suite struct FieldMethodTests {
  @Test func theEndOfAFieldsKeyServesForTheWhole() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl register f --focus demo.A.X=1 demo.B.Y=a demo.C.Y=b
        focusctl publish f X=2 B.Y:s=7 demo.A.New=x
        focusctl get demo.A.X demo.B.Y New
        for refused in 'publish f Y=1' 'publish f Z=1' 'publish f X=1 demo.A.X=2' 'withdraw f Y' 'withdraw f Z' \\
          'withdraw f X demo.No.Key' 'withdraw g X' 'publish f X/0=1'; do
          focusctl $refused; echo $?
        done
        focusctl withdraw f X B.Y && focusctl withdraw f Y; echo $?
        focusctl --json | grep -o '"demo[^"]*"'
        focusctl register p --scope session --active On=true demo.P.On=true
        focusctl --all | grep p
        """)
      #expect(
        result.output == [
          "f", "2", "7", "x",
          "2", "2", "2", "2", "2", "4", "4", "2", "0", #""demo.A.New""#, #""demo.A.New""#, "p", "  p (active)",
        ], "\(result)")
      let whole = "is not a whole key: expected an interface name, a dot and a member name, such as demo.Form.Number"
      #expect(
        result.errors == [
          "focusctl: 'Y' is ambiguous: demo.B.Y, demo.C.Y", "focusctl: 'Z' \(whole)",
          "focusctl: 'demo.A.X' is given twice",
          "focusctl: 'Y' is ambiguous: demo.B.Y, demo.C.Y", "focusctl: 'Z' \(whole)",
          "focusctl: the field 'f' does not publish demo.No.Key: its property Keys lists what it does",
          "focusctl: there is no field 'g'; 'focusctl list' shows all fields",
          "focusctl: 'X/0' \(whole)",
        ], "\(result)")
    }
  }

  @Test func aSecretKeyKeepsItsType() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl register vault --sensitive demo.Vault.Pin:s=abc
        focusctl publish vault demo.Vault.Pin=1234 && focusctl publish vault Pin=5678 && focusctl withdraw vault Pin; echo $?
        focusctl set --field vault demo.Vault.Pin 1; echo $?
        """)
      #expect(result.output == ["vault", "0", "1"], "\(result)")
    }
  }

  @Test func whatOnlyTheHolderMayWriteIsNamedByItsEnd() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl hold h demo.A.X=1 demo.A.Y=2 --read-only X --focus </dev/null >/dev/null &
        focusctl wait X
        focusctl set X 3; echo $?
        focusctl set Y 3; echo $?
        kill $!
        """)
      #expect(result.output == ["4", "0"], "\(result)")
    }
  }

  @Test func eachOfSeveralFieldsIsAskedForItself() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        for id in a b c; do focusctl register $id demo.A.X=1 >/dev/null; done
        focusctl unregister a no b nor; echo $?
        focusctl list --format '{id}'
        """)
      #expect(result.output == ["4", "c"], "\(result)")
      #expect(
        result.errors.map { $0.prefix(33) } == [
          "focusctl: there is no field 'no';", "focusctl: there is no field 'nor'",
        ])
    }
  }

  /// A value and a command of one name are told apart.
  @Test func aValueIsDescribedThoughACommandHasItsName() async throws {
    try await TestDesktop.with { desktop in
      let outer = try await desktop.background("exec focusctl hold outer --command demo.A.Both")
      try await eventually("the field") { try await desktop.focusctl("list", "--format", "{id}").output == ["outer"] }
      let result = try await desktop.shell(
        """
        focusctl register inner --parent outer --focus demo.A.Both=1 >/dev/null
        focusctl describe Both | sed -n '1,4p'
        """)
      let described = ["key:       demo.A.Both", "type:      i", "access:    writable", "field:     inner"]
      #expect(result.output == described && result.errors.isEmpty, "\(result)")
      try await outer.stop()
    }
  }

  @Test func whatCannotBeDoneNamesItsKey() async throws {
    try await TestDesktop.with { desktop in
      let result = try await desktop.shell(
        """
        focusctl register f --focus demo.A.Most:y=255 demo.A.Text=x >/dev/null
        focusctl register secret demo.A.Secret=x --sensitive >/dev/null
        focusctl update Most +1; echo $?
        focusctl update Most /0; echo $?
        focusctl update Text +1; echo $?
        focusctl describe Secret --field secret; echo $?
        focusctl register long org.focusd.Text.Length=70000 >/dev/null
        for how in "set Text.Content x" "describe Text.Content"; do focusctl $how --field long; echo $?; done
        """)
      #expect(result.output == ["4", "2", "2", "4", "1", "1"], "\(result)")
      let isTooLong =
        "focusctl: 'Text.Content' is nil: the text has 70000 characters, which cannot all be shown; org.focusd.Text.Insert "
        + "replaces those that org.focusd.Text.Selection names"
      #expect(
        result.errors == [
          "focusctl: demo.A.Most: 255 + 1 is out of the range of type 'y', 0 to 255",
          "focusctl: demo.A.Most: 255 cannot be divided by 0",
          "focusctl: demo.A.Text: '+1' needs a number, but the value is of type 's'",
          "focusctl: the field 'secret' is sensitive: only its owner may read demo.A.Secret",
          isTooLong, isTooLong,
        ], "\(result)")
    }
  }

  @Test func theKeysOfTheFieldThatIsChangedAreOffered() async throws {
    try await TestDesktop.with { desktop in
      _ = try await desktop.shell(
        """
        focusctl register f --focus demo.A.Focused=1
        focusctl register g demo.A.Mine=1 demo.B.Other=2
        focusctl register empty
        """)
      try await desktop.completes(
        """
        for call in 'withdraw g' 'publish g' 'withdraw g Mi' 'withdraw empty' 'withdraw none' 'get'; do
          case $call in *Mi) focusctl __complete $call;; *) focusctl __complete $call '';; esac | cut -f 1 | paste -sd ' '
        done
        """,
        as: ["demo.A.Mine demo.B.Other", "demo.A.Mine= demo.B.Other=", "Mine", "", "", "demo.A.Focused"])
    }
  }
}
