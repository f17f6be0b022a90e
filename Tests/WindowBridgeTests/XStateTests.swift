import Testing
import WindowBridge

/// An X session's properties, without a server.
@Suite struct XStateTests {
  private static let numbers = Dictionary(
    uniqueKeysWithValues: XAtom.allCases.enumerated().map { ($1, UInt32($0 + 100)) })

  private static func atom(_ atom: XAtom) -> UInt32 { numbers[atom] ?? 0 }

  private static func state() -> XState {
    XState(atoms: Dictionary(uniqueKeysWithValues: numbers.map { ($1, $0) }), machine: "here")
  }

  private static func text(_ text: String, isUTF8: Bool = true) -> XProperty {
    XProperty(Array(text.utf8), isUTF8: isUTF8)
  }

  private static func complete(
    _ state: inout XState, _ window: UInt32, process: UInt32 = 0, _ properties: [XAtom: XProperty] = [:]
  ) {
    for atom in [XAtom.name, .oldName, .class, .machine, .process, .desktop, .type] {
      state.setClient(window, atom, properties[atom])
    }
    state.setProcess(window, process)
  }

  @Test func propertiesMakeAWindow() {
    let cases: [([XAtom: XProperty], UInt32, Window)] = [
      ([:], 0, Window()), ([.name: Self.text("new"), .oldName: Self.text("old")], 0, Window(title: "new")),
      ([.name: Self.text(""), .oldName: XProperty([0x61, 0xe9], isUTF8: false)], 0, Window(title: "aé")),
      ([.class: Self.text("xterm\0XTerm\0", isUTF8: false)], 0, Window(application: "XTerm")),
      ([.class: Self.text("übung.py\0Übung.py\0", isUTF8: false)], 0, Window(application: "Übung.py")),
      ([.class: Self.text("only")], 0, Window(application: "only")),
      ([.class: Self.text("only\0\0")], 0, Window(application: "only")),
      ([.class: Self.text("")], 0, Window()), ([.process: XProperty([42])], 0, Window(process: 42)),
      ([.process: XProperty([42])], 43, Window(process: 43)), ([.process: XProperty([1])], 1, Window()),
      ([.process: XProperty([42]), .machine: Self.text("here")], 0, Window(process: 42)),
      ([.process: XProperty([42]), .machine: Self.text("there")], 0, Window()),
      ([.process: XProperty([1, 2, 3])], 0, Window()), ([.desktop: XProperty([0])], 0, Window(workspace: "mail")),
      ([.desktop: XProperty([1])], 0, Window(workspace: "2")),
      ([.desktop: XProperty([2])], 0, Window(workspace: "web")),
      ([.desktop: XProperty([7])], 0, Window(workspace: "8")), ([.desktop: XProperty([.max])], 0, Window()),
      ([.desktop: XProperty([.max - 1])], 0, Window(workspace: "4294967295")),
      ([.type: XProperty([5, Self.atom(.typeDock)])], 0, Window(kind: .panel)),
      ([.type: XProperty([Self.atom(.typeDesktop)])], 0, Window(kind: .backdrop)),
      (
        [.name: Self.text(String(repeating: "é", count: 40_000))], 0, Window(title: String(repeating: "é", count: 2048))
      ),
    ]
    for (properties, process, expected) in cases {
      var state = Self.state()
      _ = state.setRoot(.desktopNames, Self.text("mail\0\0web\0"))
      let new = state.setRoot(.clientList, XProperty([7]))
      #expect(new == [7])
      Self.complete(&state, 7, process: process, properties)
      #expect(state.desktop.windows == [WindowID(7): expected])
    }
  }

  /// The first ones are titles of xterm; it says no other.
  @Test(arguments: [
    ([90, 97, 27, 45, 66, 191, 27, 45, 65, 243, 27, 45, 66, 179, 230], "Zażółć"),
    ([27, 45, 76, 191, 224, 216, 210, 213, 226], "Привет"), ([27, 45, 70, 197, 235, 235, 220, 228, 225], "Ελλάδα"),
    ([27, 36, 40, 66, 70, 124, 75, 92, 56, 108], "日本語"), ([27, 36, 40, 67, 71, 81, 49, 57, 62, 110], "한국어"),
    (
      [27, 36, 40, 66, 67, 102, 74, 56, 27, 36, 40, 65, 60, 114, 27, 36, 40, 66, 66, 78], "中文简体"
    ),
    (
      [252, 27, 37, 71, 226, 128, 147, 27, 37, 64, 27, 45, 89, 180, 161, 27, 36, 40, 66, 33, 68], "ü–“”…"
    ),
    ([97, 27, 37, 71, 240, 159, 152, 128, 27, 37, 64, 98, 32, 252], "a😀b ü"), ([27, 45, 98, 164], "€"),
    // Japanese in the upper half, a space within it, and ASCII after it.
    ([27, 36, 41, 66, 0xb8, 0xec, 0x20, 0xb8, 0xec, 0x41], "語 語A"), ([27, 36, 40, 66, 56, 108, 27, 40, 66, 65], "語A"),
    // Half a character, a set by name, sets that are not known, and sequences that end early.
    ([27, 36, 40, 66, 56, 108, 56], "語\u{fffd}"), ([65, 27, 37, 47, 49, 128, 130, 66, 67, 68], "A\u{fffd}D"),
    ([27, 45, 126, 0xe4, 65], "\u{fffd}A"), ([27, 40, 73, 49], "\u{fffd}"), ([65, 27], "A"), ([65, 27, 36, 40], "A"),
    ([65, 27, 37, 47, 49, 255, 255, 66], "A\u{fffd}"), ([65, 27, 37, 47, 49], "A\u{fffd}"), ([65, 27, 0xe4, 66], "AB"),
  ])
  func anOldNameMayBeInAnySet(_ bytes: [UInt8], _ title: String) {
    var state = Self.state()
    _ = state.setRoot(.clientList, XProperty([7]))
    Self.complete(&state, 7, [.oldName: XProperty(bytes, isUTF8: false)])
    #expect(state.desktop.windows[WindowID(7)]?.title == title)
  }

  @Test func whatTheWindowManagerDoesNotDoIsKnown() {
    var state = Self.state()
    _ = state.setRoot(.clientList, XProperty([7]))
    Self.complete(&state, 7)
    let actions: [WindowAction] = [.close, .fullscreen, .minimize]
    // One that says nothing may do all.
    #expect(actions.allSatisfy { state.allows($0, on: 7) })
    let atoms: [XAtom] = [.actionClose, .actionFullscreen, .actionMinimize]
    for (action, atom) in zip(actions, atoms) {
      state.setClient(7, .allowedActions, XProperty([Self.atom(atom), Self.atom(.actionMove)]))
      #expect(actions.filter { state.allows($0, on: 7) } == [action])
    }
    // It is not shown now.
    state.setClient(7, .allowedActions, XProperty([Self.atom(.actionClose)]))
    #expect(state.allows(.fullscreen, on: 7))
  }

  @Test func windowsAreToldWhenAllIsKnownOfThem() {
    var state = Self.state()
    let new = state.setRoot(.clientList, XProperty([7, 8, 7]))
    #expect(new == [7, 8])
    _ = state.setRoot(.activeWindow, XProperty([7]))
    #expect(state.desktop == Desktop())
    #expect(!state.isSettled)
    Self.complete(&state, 7)
    #expect(state.isSettled)
    #expect(state.desktop == Desktop(windows: [WindowID(7): Window()], front: WindowID(7)))
    let same = state.setRoot(.clientList, XProperty([7, 8]))
    #expect(same == [])
    for nobody in [XProperty([0]), XProperty([99]), XProperty([UInt32]()), nil] {
      _ = state.setRoot(.activeWindow, nobody)
      #expect(state.isSettled)
      #expect(state.desktop.front == nil)
    }
    let none = state.setRoot(.clientList, nil)
    #expect(none == [])
    // What arrives late is of no window.
    Self.complete(&state, 7)
    #expect(state.desktop == Desktop())
  }

  @Test func aWindowThatIsGoneIsNoneWhateverTheListSays() {
    var state = Self.state()
    _ = state.setRoot(.clientList, XProperty([7, 8]))
    _ = state.setRoot(.activeWindow, XProperty([8]))
    Self.complete(&state, 7)
    state.setClient(8, .name, Self.text("eight"))
    state.removeClient(8)
    Self.complete(&state, 8)
    // Nothing waits for it.
    #expect(state.isSettled)
    #expect(state.desktop == Desktop(windows: [WindowID(7): Window()]))
    // Another may have its number.
    let again = state.setRoot(.clientList, XProperty([7, 8]))
    #expect(again == [8])
  }

  @Test func whatTheWindowManagerCanDo() {
    var state = Self.state()
    _ = state.setRoot(.clientList, XProperty([7]))
    Self.complete(&state, 7)
    func actions() -> Set<WindowAction> { state.desktop.windows[WindowID(7)]?.actions ?? [] }
    #expect(actions() == [])
    _ = state.setRoot(.supported, XProperty([Self.atom(.closeWindow), Self.atom(.stateFullscreen), 9]))
    #expect(actions() == [.close, .fullscreen])
    _ = state.setRoot(.i3Socket, Self.text("/run/i3.sock"))
    #expect(actions() == [.close, .fullscreen, .float])
    // One that restarts can still do it.
    _ = state.setRoot(.supported, nil)
    #expect(actions() == [.close, .fullscreen, .float])
    _ = state.setRoot(.supported, XProperty([Self.atom(.actionMinimize)]))
    _ = state.setRoot(.i3Socket, nil)
    #expect(actions() == [.minimize])
  }
}
