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
          "focusctl: the field 'f' does not publish demo.No.Key",
          "focusctl: there is no field 'g'; 'focusctl list' shows all fields",
          "focusctl: 'X/0' \(whole)",
        ], "\(result)")
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
}
