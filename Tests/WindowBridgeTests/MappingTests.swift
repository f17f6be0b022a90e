import BridgeJSON
import DBusTypes
import FocusContract
import Testing
import WindowBridge

/// What window managers and their clients say, made fit for the bus.
@Suite struct MappingTests {
  @Test func textsAreCutToWholeCharacters() {
    let cases: [(String, Int, String)] = [
      ("abc", 3, "abc"), ("abcd", 3, "abc"), ("aé", 2, "a"), ("aé", 3, "aé"), ("a\0b", 9, "ab"), ("", 3, ""),
      ("👩‍👩‍👧", 4, "👩"), (String(repeating: "x", count: 1 << 20), 4, "xxxx"),
    ]
    for (text, limit, expected) in cases {
      #expect(WindowText.cut(text, limit: limit).unicodeScalars.elementsEqual(expected.unicodeScalars))
      #expect(WindowText.text(text.utf8, limit: limit).unicodeScalars.elementsEqual(expected.unicodeScalars))
    }
    #expect(WindowText.text([0x61, 0xff, 0x62], limit: 9) == "a\u{fffd}b")
    #expect(WindowText.text([UInt8](repeating: 0xff, count: 1 << 16), limit: 4096).utf8.count <= 4096)
    #expect(WindowText.latin1([0x61, 0xe9], limit: 9) == "aé")
    #expect(WindowText.name("") == nil)
  }

  @Test func whatIsLeftOutLeavesTheOneBeforeInFront() {
    var selection = WindowSelection(ignoring: ["Launcher"])
    let windows: [WindowID: Window] = [
      WindowID(1): Window(application: "one"), WindowID(2): Window(application: "launcher"),
      WindowID(3): Window(application: "bar", kind: .panel), WindowID(4): Window(kind: .backdrop),
      WindowID(5): Window(),
    ]
    // (which has the keyboard, which is in front then)
    let steps: [(UInt64?, UInt64?)] = [
      (2, nil), (1, 1), (2, 1), (3, 1), (5, 5), (3, 5), (4, nil), (3, nil), (1, 1), (nil, nil), (2, nil), (1, 1),
      (99, nil),
    ]
    for (keyboard, front) in steps {
      let chosen = selection.choose(Desktop(windows: windows, front: keyboard.map { WindowID($0) }))
      #expect(chosen.front == front.map { WindowID($0) }, "\(keyboard ?? 0)")
      #expect(chosen.windows.keys.sorted() == [WindowID(1), WindowID(5)])
    }
    _ = selection.choose(Desktop(windows: windows, front: WindowID(1)))
    var fewer = windows
    fewer[WindowID(1)] = nil
    let left = selection.choose(Desktop(windows: fewer, front: WindowID(2)))
    #expect(left.front == nil)
  }

  @Test func aConnectionIsInTheWindowsOfItsNearestProcess() {
    let (a, b, c) = (BusName(known: ":1.1"), BusName(known: ":1.2"), BusName(known: ":1.3"))
    let windows: [WindowID: UInt32] = [
      WindowID(1): 100, WindowID(2): 100, WindowID(3): 200, WindowID(4): 1, WindowID(5): 0,
    ]
    // (the processes of connections with their parents, the windows with the connections in them)
    let cases: [([BusName: [[UInt32]]], [UInt64: [BusName]])] = [
      ([a: [[100, 1]]], [1: [a], 2: [a]]), ([a: [[300, 200, 100, 1]]], [3: [a]]), ([a: [[300, 299, 1]]], [:]),
      ([a: [[1]], b: [[0]]], [:]), ([a: [[100, 1], [250, 200, 1]]], [1: [a], 2: [a], 3: [a]]),
      ([a: [[200, 1]], b: [[201, 200, 1]], c: [[7]]], [3: [a, b]]), ([a: []], [:]),
    ]
    for (chains, expected) in cases {
      let homes = Adoption.homes(of: chains, among: windows, limit: 256)
      #expect(Dictionary(uniqueKeysWithValues: homes.map { ($0.key.number, $0.value) }) == expected)
    }
    let many = Dictionary(uniqueKeysWithValues: (1...300).map { (BusName(known: ":1.\($0)"), [[UInt32(200)]]) })
    #expect(Adoption.homes(of: many, among: windows, limit: 256)[WindowID(3)]?.count == 256)
  }

  /// Fields as they come and go, and what is counted of them.
  private struct Stage {
    var owners = FieldOwners()
    var fields: [ObjectPath: FieldOrigin] = [:]
    var processes: [BusName: Set<UInt32>] { owners.processes }

    mutating func set(_ path: ObjectPath, _ origin: FieldOrigin?) -> Bool {
      let before = fields[path]
      fields[path] = origin
      return owners.changed(path, from: before, in: fields)
    }
  }

  private static func origin(_ owner: String, _ process: UInt32, parent: String = "/") throws -> FieldOrigin {
    let properties: [(name: String, value: DBusValue)] = [
      ("Owner", .string(owner)), ("Process", .uint32(process)), ("Parent", .objectPath(ObjectPath(known: parent))),
      ("Id", .string("x")),
    ]
    let interface = DBusDictionary.Entry(key: .string("org.focusd.Focus1.Field"), value: .properties(properties))
    let type = DBusType.dictionary(key: .string, value: .variant)
    return try #require(FieldOrigin(.dictionary(DBusDictionary(known: .string, type, [interface]))))
  }

  @Test func scenesAreCountedByOwnerAndProcess() throws {
    let (one, two) = (ObjectPath(known: "/f/1"), ObjectPath(known: "/f/2"))
    var owners = Stage()
    // The process comes later.
    var first = try Self.origin(":1.1", 0)
    #expect(owners.set(one, first) == true)
    #expect(owners.processes == [BusName(known: ":1.1"): []])
    first.update([("Process", .uint32(7))])
    #expect(owners.set(one, first) == true)
    #expect(owners.processes == [BusName(known: ":1.1"): [7]])
    // Another scene of the same connection and process is no news.
    let third = ObjectPath(known: "/f/3")
    let changes = [owners.set(third, try Self.origin(":1.1", 7)), owners.set(third, nil)]
    #expect(changes == [false, false])
    // A child is no scene, an adopted scene is one.
    #expect(owners.set(two, try Self.origin(":1.1", 9, parent: "/f/1")) == false)
    var second = try Self.origin(":1.2", 9, parent: "/f/1")
    #expect(owners.set(two, second) == true)
    #expect(owners.processes == [BusName(known: ":1.1"): [7], BusName(known: ":1.2"): [9]])
    second.update([("Owner", .string(""))])
    #expect(owners.set(two, second) == true)
    second.update([("Owner", .string("no name")), ("Process", .string("nonsense")), ("Parent", nil)])
    #expect(owners.set(two, second) == false)
    #expect(owners.set(one, nil) == true)
    #expect(owners.set(one, nil) == false)
    #expect(owners.processes.isEmpty)
  }

  /// A list of fields may name a child before its parent.
  @Test func aChildThatComesBeforeItsParentIsNoScene() throws {
    var owners = Stage()
    let (child, parent) = (ObjectPath(known: "/f/a"), ObjectPath(known: "/f/b"))
    _ = owners.set(child, try Self.origin(":1.1", 9, parent: "/f/b"))
    _ = owners.set(parent, try Self.origin(":1.1", 7))
    #expect(owners.processes == [BusName(known: ":1.1"): [7]])
    let changes = [owners.set(child, nil), owners.set(parent, nil)]
    #expect(changes == [false, true])
    #expect(owners.processes.isEmpty)
  }

  @Test func aMessageOfTooManyValuesIsNotRead() {
    func list(_ count: Int) -> [UInt8] { Array(("[0" + String(repeating: ",0", count: count) + "]").utf8) }
    #expect(JSON(list(1000))?.elements.count == 1001)
    #expect(JSON(list(JSON.mostValues)) == nil)
  }

  @Test func allThatTheEnvironmentNamesAreCandidates() throws {
    let environment = [
      "SWAYSOCK": "/s", "DISPLAY": ":1", "I3SOCK": "/i", "WAYLAND_DISPLAY": "w", "XDG_RUNTIME_DIR": "/r",
    ]
    let found = try Session.candidates(in: { environment[$0] })
    #expect(found == [.sway(socket: "/s"), .wayland(socket: "/r/w"), .kwin, .i3(socket: "/i")])
  }

  @Test func socketsThatNoVariableNamesAndGNOMEComeBeforeX11() throws {
    let environment = ["SWAYSOCK": "/s", "DISPLAY": ":1"]
    let sockets: [Session] = [.niri(socket: "/n"), .wayland(socket: "/w"), .sway(socket: "/t")]
    let found = try Session.candidates(in: { environment[$0] }, found: sockets, gnome: "bus")
    #expect(
      found == [
        .sway(socket: "/s"), .sway(socket: "/t"), .niri(socket: "/n"), .wayland(socket: "/w"), .gnome(bus: "bus"),
        .kwin,
        .x11(display: ":1"),
      ])
  }

  @Test func theVariablesOfAnEndedWaylandDesktopDoNotCount() throws {
    let lines = [
      "DISPLAY=:1", "WAYLAND_DISPLAY=wayland-1", "XDG_SESSION_TYPE=wayland", "SECRET=x", "SWAYSOCK=", "I3SOCK",
    ]
    let variables = try #require(SessionVariables(.variant(.strings(lines))))
    #expect(["DISPLAY", "SECRET", "SWAYSOCK", "I3SOCK"].map { variables[$0] } == [":1", nil, nil, nil])
    #expect(variables.checked("/run") { $0 == "/run/wayland-1" } == variables)
    let checked = variables.checked("/run") { _ in false }
    #expect(["DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"].map { checked[$0] } == [":1", nil, nil])
    #expect(SessionVariables(.strings(lines)) == nil)
  }

  @Test func onlyNamesAndPathsAreMenuAddresses() {
    var menus = MenuAddresses()
    let cases: [(MenuAddresses.Part, String, Bool)] = [
      (.gtkBusName, ":1.5", true), (.gtkBusName, "org.gnome.gedit", true), (.gtkBusName, "no name", false),
      (.gtkWindow, "/org/gnome/gedit/window/1", true), (.gtkWindow, "gedit", false), (.gtkWindow, "/", false),
      (.kdeMenubar, "/" + String(repeating: "x", count: 2000), false), (.kdeMenubar, "/MenuBar/1", true),
    ]
    for (part, text, isTaken) in cases {
      menus[part] = text
      #expect(menus[part] == (isTaken ? text : nil), "\(text)")
    }
  }

  @Test func whichWindowManagerTheEnvironmentNames() throws {
    let x: Session = .x11(display: ":1")
    // (the environment, what is asked for, what is followed: nil for none)
    let cases: [([String: String], String?, Session?)] = [
      ([:], nil, nil), (["DISPLAY": ":1"], nil, x), (["DISPLAY": ":1", "I3SOCK": "/i3"], nil, x),
      (["DISPLAY": ":1", "I3SOCK": "/i3"], "i3", .i3(socket: "/i3")), (["I3SOCK": "/i3"], nil, .i3(socket: "/i3")),
      (["SWAYSOCK": "/s", "I3SOCK": "/s", "WAYLAND_DISPLAY": "w", "DISPLAY": ":1"], nil, .sway(socket: "/s")),
      (["WAYLAND_DISPLAY": "/w", "DISPLAY": ":1"], nil, .wayland(socket: "/w")),
      (["WAYLAND_DISPLAY": "w", "DISPLAY": ":1"], nil, nil), (["WAYLAND_DISPLAY": "w", "DISPLAY": ":1"], "x11", x),
      (["XDG_SESSION_TYPE": "wayland", "DISPLAY": ":1"], nil, nil),
      (["XDG_SESSION_TYPE": "x11", "DISPLAY": ":1"], nil, x),
      (["NIRI_SOCKET": "/n", "WAYLAND_DISPLAY": "w"], nil, .niri(socket: "/n")),
      (["HYPRLAND_INSTANCE_SIGNATURE": "h", "XDG_RUNTIME_DIR": "/r"], nil, .hyprland(directory: "/r/hypr/h")),
      (["HYPRLAND_INSTANCE_SIGNATURE": "h"], nil, nil), (["DISPLAY": ":1"], "sway", nil),
      (["DISPLAY": ":1"], "kde", nil),
    ]
    for (environment, name, expected) in cases {
      #expect((try? Session.candidates(name, in: { environment[$0] }).first) == expected, "\(environment)")
    }
    let gnome = ["WAYLAND_DISPLAY": "w", "DISPLAY": ":1", "XDG_CURRENT_DESKTOP": "GNOME"]
    let error = #expect(throws: Session.Unsupported.self) { try Session.candidates(in: { gnome[$0] }) }
    #expect(error?.description.hasPrefix("GNOME tells which window is in front only through its extension") == true)
  }

  @Test func aWindowManagerThatIsAwayIsForgottenAndThenGone() {
    var reconnection = Reconnection()
    let start = SuspendingClock.now
    var (now, delays): (SuspendingClock.Instant, [Duration]) = (start, [])
    while let next = reconnection.failed(at: now) {
      #expect(next.isForgotten == (now - start >= Reconnection.grace))
      delays.append(next.delay)
      now += next.delay
    }
    #expect(delays.first == .milliseconds(50))
    #expect(delays.last == .seconds(2))
    #expect(now - start >= Reconnection.patience)
    reconnection.succeeded()
    let first = reconnection.failed(at: now)
    #expect(first?.delay == .milliseconds(50))
  }

  /// One that only begins well is given up all the same.
  @Test func windowsAreForgottenSomeTimeAfterTheyWereToldLast() {
    var reconnection = Reconnection()
    let start = SuspendingClock.now
    for seconds in stride(from: 0, to: 30, by: 4) {
      let first = reconnection.failed(at: start + .seconds(seconds))
      let last = reconnection.failed(at: start + .seconds(seconds + 3))
      #expect(first?.isForgotten == false)
      #expect(last?.isForgotten ?? true)
      reconnection.told()
    }
    let next = reconnection.failed(at: start + Reconnection.patience)
    #expect(next == nil)
  }
}
