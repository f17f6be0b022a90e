import BridgeJSON
import BridgeSupport
import DBus
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
    let windows = Self.windows([1: (100, ""), 2: (100, ""), 3: (200, ""), 4: (1, ""), 5: (0, "")])
    // (the processes of connections with their parents, the windows with the connections in them)
    let cases: [([BusName: [[UInt32]]], [UInt64: [BusName]])] = [
      ([a: [[100, 1]]], [1: [a], 2: [a]]), ([a: [[300, 200, 100, 1]]], [3: [a]]), ([a: [[300, 299, 1]]], [:]),
      ([a: [[1]], b: [[0]]], [:]), ([a: [[100, 1], [250, 200, 1]]], [1: [a], 2: [a], 3: [a]]),
      ([a: [[200, 1]], b: [[201, 200, 1]], c: [[7]]], [3: [a, b]]), ([a: []], [:]),
    ]
    for (chains, expected) in cases {
      var adoption = Adoption()
      let homes = adoption.homes(of: chains.mapValues { Resident($0.map { Lineage($0) }) }, among: windows, limit: 256)
      #expect(Dictionary(uniqueKeysWithValues: homes.map { ($0.key.number, $0.value) }) == expected)
    }
    let many = (1...300).map { (BusName(known: ":1.\($0)"), Resident([Lineage([200])])) }
    var adoption = Adoption()
    let homes = adoption.homes(of: Dictionary(uniqueKeysWithValues: many), among: windows, limit: 256)
    #expect(homes[WindowID(3)]?.count == 256)
  }

  /// Of the programs in one Flatpak, which share a proxy, the title decides.
  @Test func aFlatpakIsInTheWindowsOfAllOfItsPrograms() {
    let (a, b) = (BusName(known: ":1.1"), BusName(known: ":1.2"))
    let windows = Self.windows([1: (100, "one"), 2: (101, "two"), 3: (50, "who started it")])
    var adoption = Adoption()
    let residents = ["one": a, "two": b].map { title, name in
      (name, Resident([Lineage([99, 50, 1], companions: [98, 100, 101])], title: title))
    }
    let homes = adoption.homes(of: Dictionary(uniqueKeysWithValues: residents), among: windows, limit: 256)
    #expect(homes == [WindowID(1): [a], WindowID(2): [b]])
    let left = adoption.homes(
      of: [a: Resident([Lineage([99, 50, 1], companions: [98])])], among: windows, limit: 256)
    #expect(left == [WindowID(3): [a]])
  }

  private static func windows(_ windows: [UInt64: (UInt32?, String)]) -> [WindowID: Adoption.Home] {
    Dictionary(uniqueKeysWithValues: windows.map { (WindowID($0), .init(process: $1.0, title: $1.1)) })
  }

  /// A bridge's connections say the titles of their windows, and the window manager says those of all windows.
  @Test func ofSeveralWindowsTheTitleDecides() {
    Self.follow([
      [(["a", "b"], [1: "a", 2: "b"], [[1], [2]])],
      [(["a", "b"], [1: "a \u{2014} App", 2: "b - App"], [[1], [2]])],
      // Not the beginning of a word, and what is equal goes first.
      [(["a", "a"], [1: "ab", 2: "a - b"], [[2], []])],
      [(["a"], [1: "a - b", 2: "a"], [[2]])],
      // One that says nothing is in all; one that has yet to say, or says what no window is called, in none of several.
      [([nil, "", "x"], [1: "a", 2: "b"], [[1, 2], [], []])],
      [(["", "x"], [1: "a"], [[1], [1]])],
      [(["?"], [1: "a"], [[1]]), (["?"], [1: "a", 2: "b"], [[]]), (["b"], [1: "a", 2: "b"], [[2]])],
      // The daemon came back, and it is asked again.
      [(["a"], [1: "a", 2: "b"], [[1]]), (["?"], [1: "a", 2: "b"], [[1]]), (["?"], [2: "b", 3: "c"], [[]])],
      // Two of one title: the window that one has is not the other's.
      [(["a", "a"], [1: "a", 2: "a"], [[], []])],
      [(["a"], [1: "a"], [[1]]), (["a", "a"], [1: "a", 2: "a"], [[1], [2]])],
      [([nil, "a"], [1: "a", 2: "a <2>"], [[1, 2], []])],
      [
        (["a"], [1: "a \u{2014} App"], [[1]]),
        (["a", "a"], [1: "a \u{2014} App", 2: "a \u{2014} App <2>"], [[1], [2]]),
      ],
      // What is closed is in no other window, and may come back.
      [
        (["d"], [1: "m"], [[1]]), (["d", "m"], [1: "m", 2: "d"], [[2], [1]]), (["d", "m"], [1: "m"], [[], [1]]),
        (["d", "m"], [1: "m", 2: "d"], [[2], [1]]),
      ],
      [([""], [1: "App", 2: "App"], [[]])],
      // Titles change here and there at different times.
      [
        (["a", "b"], [1: "a", 2: "b"], [[1], [2]]), (["a", "b"], [1: "*a", 2: "b"], [[1], [2]]),
        (["*a", "b"], [1: "*a", 2: "b"], [[1], [2]]), (["c", "b"], [1: "*a", 2: "b"], [[1], [2]]),
        (["c", "b"], [1: "c", 2: "b"], [[1], [2]]),
      ],
      [(["a"], [1: "a", 2: "b"], [[1]]), (["a"], [1: "c", 2: "a"], [[1]]), (["a"], [2: "a"], [[2]])],
      [(["a"], [1: "a", 2: "b"], [[1]]), (["b"], [1: "a", 2: "b"], [[2]])],
      [(["b"], [1: "a", 2: ""], [[]]), (["b"], [1: "a", 2: "b"], [[2]])],
    ])
  }

  /// On a desktop that tells no processes, a window is nobody's but by its title.
  @Test func withoutProcessesOnlyTheTitleDecides() {
    Self.follow(
      [
        [(["a", "b"], [1: "a", 2: "b \u{2014} App"], [[1], [2]])],
        [([nil, "", "x", "?"], [1: "a"], [[], [], [], []])],
        [(["a", "a"], [1: "a", 2: "a"], [[], []])],
        // Titles change here and there at different times, and the daemon comes back.
        [(["a"], [1: "a"], [[1]]), (["b"], [1: "a"], [[1]]), (["b"], [1: "b"], [[1]]), (["?"], [1: "b"], [[1]])],
        [(["a"], [1: "a"], [[1]]), (["a"], [2: "b"], [[]]), (["a"], [2: "b", 3: "a"], [[3]])],
        // A stranger's window has the new title before its own.
        [(["a"], [1: "a", 2: "b"], [[1]]), (["b"], [1: "a", 2: "b"], [[1]]), (["b"], [1: "b", 2: "b"], [[1]])],
      ], process: nil)
    // What a program says is not learned of a window that never had its title.
    let speaker = BusName(known: ":1.1")
    var adoption = Adoption()
    let windows = Self.windows([1: (nil, "a"), 2: (nil, "a"), 3: (nil, "b"), 4: (100, "a")])
    func homes(isTrusted: Bool = true) -> Set<UInt64> {
      let homes = adoption.homes(
        of: [speaker: Resident([Lineage([200])], title: "a", isTrusted: isTrusted)], among: windows, limit: 256)
      return Set(homes.keys.map(\.number))
    }
    #expect(homes() == [])
    #expect(!adoption.learn(speaker, in: WindowID(3)) && !adoption.learn(speaker, in: WindowID(4)) && homes() == [])
    #expect(adoption.learn(speaker, in: WindowID(2)) && homes() == [2])
    #expect(homes(isTrusted: false) == [])
  }

  /// What each connection says, "?" for nothing yet; the windows' titles; the windows that each is in then.
  private typealias Step = (told: [String?], shown: [UInt64: String], homes: [Set<UInt64>])

  /// Follows each story with connections of one process, in windows of `process`.
  private static func follow(_ stories: [[Step]], process: UInt32? = 100) {
    for story in stories {
      var adoption = Adoption()
      for step in story {
        let names = step.told.indices.map { BusName(known: ":1.\($0)") }
        let residents = zip(names, step.told).map { name, title in
          (
            name,
            Resident(
              [Lineage([100, 1])], title: title == "?" ? nil : title, isAwaited: title == "?", isTrusted: title != nil)
          )
        }
        let homes = adoption.homes(
          of: Dictionary(uniqueKeysWithValues: residents), among: Self.windows(step.shown.mapValues { (process, $0) }),
          limit: 256)
        let found = names.map { name in Set(homes.filter { $0.value.contains(name) }.map(\.key.number)) }
        #expect(found == step.homes, "\(step) of \(story)")
        let isUnknown = zip(step.told, found).contains { $0 != nil && $0 != "?" && $1.isEmpty }
        #expect(!isUnknown || adoption.isUnsure, "\(step) of \(story)")
      }
    }
  }

  @Test func whatIsLearnedOfAWindowCountsMoreThanItsTitle() {
    let (speaker, other) = (BusName(known: ":1.1"), BusName(known: ":1.2"))
    var (adoption, title) = (Adoption(), Optional("a"))
    func homes(_ shown: [UInt64: String]) -> Set<UInt64> {
      let residents = [speaker: Resident([Lineage([100, 1])], title: title), other: Resident([Lineage([100, 1])])]
      let homes = adoption.homes(of: residents, among: Self.windows(shown.mapValues { (100, $0) }), limit: 256)
      return Set(homes.filter { $0.value.contains(speaker) }.map(\.key.number))
    }
    func learns(_ connection: BusName, _ window: UInt64) -> Bool { adoption.learn(connection, in: WindowID(window)) }
    #expect(!learns(speaker, 1))
    #expect(homes([1: "a", 2: "a"]) == [])
    // Neither another program's window, nor of a connection that speaks for none.
    #expect(!learns(speaker, 3) && !learns(other, 1))
    #expect(learns(speaker, 1) && homes([1: "a", 2: "a"]) == [1])
    #expect(!learns(speaker, 1))
    // The word was wrong.
    #expect(learns(speaker, 2) && homes([1: "a", 2: "b"]) == [2])
    title = "b"
    #expect(homes([1: "b", 2: "a"]) == [2])
    #expect(homes([1: "b", 3: "c"]) == [1])
    title = nil
    #expect(homes([1: "b", 3: "c"]) == [1, 3])
  }

  @Test func twoConnectionsAreNotLearnedInOneWindow() {
    let names = [BusName(known: ":1.1"), BusName(known: ":1.2")]
    var adoption = Adoption()
    func homes() -> [Set<UInt64>] {
      let residents = names.map { ($0, Resident([Lineage([100, 1])], title: "")) }
      let homes = adoption.homes(
        of: Dictionary(uniqueKeysWithValues: residents), among: Self.windows([1: (100, ""), 2: (100, "")]), limit: 256)
      return names.map { name in Set(homes.filter { $0.value.contains(name) }.map(\.key.number)) }
    }
    #expect(homes() == [[], []])
    _ = adoption.learn(names[0], in: WindowID(1))
    #expect(homes() == [[1], []])
    _ = adoption.learn(names[1], in: WindowID(1))
    #expect(homes() == [[], [1]])
    _ = adoption.learn(names[0], in: WindowID(2))
    #expect(homes() == [[2], [1]])
  }

  @Test func aProgramsWordIsForTheWindowInFront() {
    enum Step {
      /// A connection's word.
      case word(Int, BusName)
      case front(Int, UInt64 = 1)
      case none(Int)
    }
    let (one, two) = (BusName(known: ":1.1"), BusName(known: ":1.2"))
    let start = SuspendingClock.now
    // (what happens, in milliseconds; whose word counts in the end)
    let stories: [(steps: [Step], BusName?)] = [
      ([], nil), ([.front(0)], nil), ([.front(0), .word(9000, one)], one),
      ([.front(0), .word(20, one), .word(30, two)], two),
      // It was for the window before.
      ([.front(0), .word(20, one), .front(30, 2)], nil),
      ([.front(0), .word(20, one), .word(25, one), .front(30, 2)], nil),
      ([.front(0), .word(20, one), .front(30, 2), .word(40, two)], two),
      ([.front(0), .word(20, one), .none(30), .front(40, 2)], nil),
      // It comes back, and the program has no reason to say it again.
      ([.front(0), .word(20, one), .none(30), .front(40)], one),
      ([.front(0), .word(20, one), .none(900), .front(1800)], one),
      ([.front(0), .word(20, one), .none(30), .front(40), .front(50, 2)], nil),
      ([.front(0), .word(20, one), .front(30, 2), .front(40)], nil),
      // The program is faster than the window manager.
      ([.word(0, one), .front(150)], one), ([.word(0, one), .front(151)], nil),
      ([.word(0, one), .none(50), .front(150)], one), ([.none(0), .word(10, one)], one),
      ([.word(0, one), .front(50), .word(60, two)], two),
    ]
    for (steps, expected) in stories {
      var witness = WindowWitness()
      for step in steps {
        func time(_ number: Int) -> SuspendingClock.Instant { start + .milliseconds(number) }
        switch step {
        case .word(let now, let connection): witness.told(connection, at: time(now))
        case .front(let now, let window): witness.frontChanged(to: WindowID(window), at: time(now))
        case .none(let now): witness.frontChanged(to: nil, at: time(now))
        }
      }
      #expect(witness.connection == expected, "\(steps)")
    }
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
    let told = try #require(Connection.variables(SessionVariables.names, in: .variant(.strings(lines))))
    let variables = SessionVariables { told[$0] }
    #expect(["DISPLAY", "SECRET", "SWAYSOCK", "I3SOCK"].map { variables[$0] } == [":1", nil, nil, nil])
    #expect(variables.checked("/run") { $0 == "/run/wayland-1" } == variables)
    let checked = variables.checked("/run") { _ in false }
    #expect(["DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE"].map { checked[$0] } == [":1", nil, nil])
    #expect(Connection.variables(SessionVariables.names, in: .strings(lines)) == nil)
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
