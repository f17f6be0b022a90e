import AccessibilityBridge
import BridgeSupport
import DBusTypes
import FocusContract
import Testing

/// What an element told -> keys and values.
@Suite struct MappingTests {
  private static func element(
    _ role: UInt32, _ interfaces: [String] = [], states: ElementStates = [], text: TextReading? = nil,
    actions: [String] = [], isSecret: Bool = false
  ) -> ElementSnapshot {
    var element = ElementSnapshot(role: ElementRole(rawValue: role))
    element.interfaces = ElementSnapshot.Interfaces(names: interfaces.map { "org.a11y.atspi." + $0 })
    element.states = states
    element.text = text
    element.actions = actions
    element.isSecret = isSecret
    if interfaces.contains("Value") { element.range = RangeReading(value: 3, minimum: 0, maximum: 10, step: 0.5) }
    return element
  }

  @Test(
    "A spin button that tells no step moves by its last digit",
    arguments: [
      ("5", 5, 1), ("12 px", 12, 1), ("0.5", 0.5, 0.1), ("-0,50 €", -0.5, 0.01), ("1,234", 1234, 1),
      ("1.234,50", 1234.5, 0.01), ("1 234", 1234, 1), ("1 234,5", 1234.5, nil), ("none", 0, 1), (nil, 3, 1),
      ("half", 0.5, nil), ("1.", 1, 1),
    ] as [(String?, Double, Double?)])
  func shownStep(_ text: String?, _ value: Double, _ step: Double?) {
    #expect(RangeReading(value: value, minimum: -2000, maximum: 2000, step: 0).shownStep(in: text) == step)
  }

  @Test(arguments: [
    (7, "checkbox"), (35, "menuitem"), (37, "tab"), (40, "password"), (43, "button"), (44, "radio"), (51, "slider"),
    (52, "spinbutton"), (60, "terminal"), (61, "textbox"), (62, "button"), (79, "textbox"), (88, "link"),
    (95, "document"), (23, "window"), (16, "dialog"), (11, "combobox"), (32, "listitem"), (130, "switch"),
    (9999, "generic"),
  ])
  func rolesAreNamedAsARIADoes(_ number: UInt32, _ name: String) {
    #expect(ElementRole(rawValue: number).name == name)
  }

  @Test(arguments: [
    ("click", "Click"), ("Show Menu", "ShowMenu"), ("clipboard.copy", "ClipboardCopy"), ("SetFocus", "SetFocus"),
    ("3d-view", "_3dView"), ("a_b", "AB"), ("日本", nil), ("", nil), ("...", nil), ("größer", "GrEr"),
  ])
  func actionsBecomeMembers(_ name: String, _ member: String?) {
    #expect(ActionName.member(name)?.text == member)
  }

  @Test func theFirstActionOfANameCounts() {
    let names = ["click", "", "Click", "press"]
    let commands = ActionName.commands(names, isEditable: true, isSecret: false)
    #expect(
      commands.map { "\($0.member)=\(ActionName.index(of: $0, among: names) ?? -1)" }.sorted() == [
        "Click=0", "Press=3",
      ])
    #expect(ActionName.toggle(["SetFocus", "Toggle"]) == 1)
    #expect(ActionName.step(["click", "increment", "decrement"], isUp: true) == 1)
    #expect(ActionName.step(["click", "increment", "decrement"], isUp: false) == 2)
    #expect(ActionName.step(["SetFocus", "Increase", "Decrease"], isUp: true) == nil)
    #expect(ActionName.toggle(["whatever"]) == 0)
    #expect(ActionName.toggle(["delete", "rename"]) == nil)
    #expect(ActionName.toggle([]) == nil)
    let alike = ["delete/all", "delete all", "Löschen!", "press"]
    #expect(
      ActionName.commands(alike, isEditable: true, isSecret: false).map(\.member.text).sorted() == ["LSchen", "Press"])
  }

  /// Of GTK 4, what cannot be run at the moment is not among the names.
  @Test(arguments: [
    (["clipboard.copy", "x", "text.undo"], true, "Copy Redo Undo"),
    (["selection.select-all", "clipboard.cut"], false, "SelectAll"),
    (["x", "ClipboardCopy"], true, ""), ([], true, ""),
  ])
  func editorsHaveTheirCommands(_ names: [String], _ isEditable: Bool, _ expected: String) {
    let commands = ActionName.commands(names, isEditable: isEditable, isSecret: false)
    let editing = commands.filter { $0.interface.text == "org.focusd.Edit" }
    #expect(editing.map(\.member.text).sorted() == expected.split(separator: " ").map(String.init))
    let names = ["clipboard.paste", "text.undo", "Undo"]
    #expect(ActionName.index(of: ElementKey.undo, among: names) == 1)
    #expect(ActionName.index(of: ElementKey.redo, among: names) == nil)
  }

  private static let read = TextReading(
    TextExtent(length: 3, caret: 1), in: TextUnits(toolkit: "GTK"), text: "abc")

  @Test(arguments: [
    (element(61, ["Text", "EditableText"], states: .editable, text: read), true),
    // Firefox puts the interface on buttons; Chromium has none.
    (element(43, ["Text", "EditableText"], text: read), false),
    (element(61, ["Text"], states: .editable, text: read), false),
  ])
  func aTextIsWritableIfItsStateAndItsInterfaceSaySo(_ element: ElementSnapshot, _ isEditable: Bool) {
    let shape = ElementShape(element)
    #expect(shape.text == .shown(isEditable: isEditable))
    #expect(shape.values[ElementKey.content] == (isEditable ? .readWrite : .readOnly))
    #expect(shape.values[ElementKey.caret] == .readWrite)
  }

  @Test func aSecretHasNoTextKeys() {
    let secret = Self.element(
      61, ["Text", "EditableText", "Value"], states: .editable, text: Self.read, isSecret: true)
    let shape = ElementShape(secret)
    #expect(shape.text == .secret(isEditable: true))
    let values = ElementValues.values(of: secret, at: ElementPlace(title: "T"))
    #expect(Set(values.keys) == [ElementKey.role, WindowKey.title])
    #expect(values[ElementKey.role] == .string("password"))
    #expect(
      shape.values.keys.allSatisfy { $0.interface.text != "org.focusd.Text" && $0.interface.text != "org.focusd.Range" }
    )
  }

  @Test func rangesAndTogglesGoByRole() {
    #expect(ElementShape(Self.element(51, ["Value"])).range == .readWrite)
    #expect(ElementShape(Self.element(42, ["Value"])).range == .readOnly)
    #expect(ElementShape(Self.element(32, ["Value"])).range == nil)
    #expect(ElementShape(Self.element(7, states: .focusable, actions: ["click"])).toggle == .readWrite)
    #expect(ElementShape(Self.element(7, states: .focusable)).toggle == .readOnly)
    #expect(ElementShape(Self.element(7, actions: ["click"])).toggle == nil)
    #expect(ElementShape(Self.element(43)).toggle == nil)
    let values = ElementValues.values(of: Self.element(51, ["Value"]), at: ElementPlace())
    #expect(values[ElementKey.value] == .double(3) && values[ElementKey.step] == .double(0.5))
    let range = RangeReading(value: 3, minimum: 0, maximum: 10, step: 0)
    #expect(range.moved(1) == 3.1 && range.moved(-100) == 0 && range.clamped(99) == 10)
  }

  @Test func everyKeyIsOneOfTheVocabularyWithItsType() {
    var element = Self.element(
      52, ["Text", "EditableText", "Value", "Action"], states: .editable, text: Self.read, actions: ["press"])
    element.name = "n"
    element.description = "d"
    let place = ElementPlace(title: "T", application: "a", process: 7)
    let values = ElementValues.values(of: element, at: place)
    #expect(values.count == ElementShape(element).values.count)
    for (key, value) in values { #expect(Vocabulary.type(of: key) == value.type, "\(key)") }
  }

  @Test func longNamesAreLeftOut() {
    var element = Self.element(43)
    element.name = String(repeating: "n", count: 5000)
    #expect(ElementValues.values(of: element, at: ElementPlace())[ElementKey.name] == nil)
  }

  @Test(arguments: [
    (["keepassxc"], true), (["/usr/bin/pinentry-gtk-2"], true), (["polkit-gnome-au"], true), (["yad"], false),
    (["/opt/My/Secret"], true), (["python3", "/usr/bin/vault"], true), ([], false), (["pinentry"], true),
  ])
  func somePrograamsAreNeverLookedInto(_ names: [String], _ isIgnored: Bool) {
    #expect(ProgramList(others: ["vault", "secret"]).contains(names) == isIgnored)
  }

  @Test(arguments: [
    (["mutter-x11-fram", "/usr/libexec/mutter-x11-frames"], true), (["mutter-x11-fram"], true), (["mutter"], false),
    (["xfwm4"], true),
    ([], false),
  ])
  func whatDrawsFramesIsKnown(_ names: [String], _ drawsFrames: Bool) {
    #expect(ProgramList.drawsFrames(names) == drawsFrames)
  }

  /// The system cuts the name of a process off.
  @Test(arguments: [
    "1password", "bitwarden", "gcr-prompter", "gcr-ssh-askpass", "gcr4-ssh-askpass", "gnome-keyring", "i3lock",
    "keepass2",
    "keepassx", "keepassxc", "ksshaskpass", "kwalletd", "kwalletd5", "kwalletd6", "lxpolkit", "lxqt-policykit-agent",
    "pinentry", "pinentry-gtk-2", "polkit-gnome-authentication-agent-1", "polkit-kde-authentication-agent-1",
    "polkit-mate-authentication-agent-1", "seahorse", "ssh-askpass", "swaylock", "xfce-polkit", "xscreensaver",
  ])
  func whatAsksForPasswordsIsNeverLookedInto(_ name: String) {
    for shown in [name, "/usr/libexec/" + name, String(name.prefix(15))] {
      #expect(ProgramList(others: []).contains([shown]), "\(shown)")
    }
  }
}
