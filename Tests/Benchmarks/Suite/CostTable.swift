internal import TestSupport

/// What must cost others no more than what it changes and tells, however much there is: with the C echo that sends as much.
extension Load {
  static var costs: [Load] {
    [scene(moves: true), scene(moves: false)] + [flips, memory, windows, snapshot] + removals
  }

  /// A scene with as many scene-scoped keys as it may have, and a field in it and one elsewhere.
  private static func scene(moves: Bool) -> Load {
    let (fields, keys) = (260, 63)
    let publications = (0..<2).map { Wire.publish([("demo.Scene0.K0", .byte(UInt8($0)))], on: "s0") }
    return Load(
      name: moves ? "focus into 16,380 scene-scoped keys" : "Publish beside 16,380 scene-scoped keys",
      prepare: { stage in
        try stage.call(Wire.register("scene"))
        let options: Wire.Values = [("parent", .path(Wire.path(of: "scene"))), ("scope", .string("scene"))]
        try stage.calls(
          (0..<fields).map { field in
            let values = (0..<keys).map { (name: "demo.Scene\(field).K\($0)", value: WireValue.byte(9)) }
            return Wire.register("s\(field)", values, options)
          })
        try stage.call(
          Wire.register("inner", [], [("parent", .path(Wire.path(of: "scene"))), ("focus", .boolean(true))]))
        try stage.call(Wire.register("elsewhere"))
      },
      run: { stage, number in
        guard moves else { return try stage.call(publications[number % 2]) }
        for id in ["elsewhere", "inner"] { try stage.call(Wire.field(id, "Focus")) }
      }, echoed: moves ? Wire.tell(2 * fields, bytes: 20 * keys) : Wire.tell(2, bytes: 64))
  }

  /// A session field that begins and ends to be active, among 32,720.
  private static var flips: Load {
    let key = "demo.Flip.Playing"
    let states = [true, false].map { Wire.publish([(key, .boolean($0))], on: "p0_7") }
    return Load(
      name: "100 flips of `active` among 32,720",
      prepare: { stage in
        let options: Wire.Values = [
          ("scope", .string("session")),
          ("active", .structure([.string(key), .variant(.boolean(true))])),
        ]
        for owner in 0..<8 {
          try stage.addOwner("p\(owner)_") { id in Wire.register(id, [(key, .boolean(false))], options) }
        }
      },
      run: { stage, _ in for number in 0..<100 { try stage.others[0].call(states[number % 2]) } },
      echoed: Wire.tell(400, bytes: 64))
  }

  /// Many fields of several connections, each of which was focused in one window.
  private static var memory: Load {
    Load(
      name: "Blur, with 49,080 fields focused in a window",
      prepare: { stage in
        try stage.becomeWindowBridge(windows: ["w0"])
        for owner in 0..<12 { try stage.addOwner("m\(owner)_") { Wire.register($0, [], Wire.focus) } }
        try stage.adopt(into: ["w0"])
        try stage.call(Wire.field("w0", "Focus"))
      },
      run: { stage, number in try stage.others[11].call(Wire.field("m11_\(Stage.most - 1 - number)", "Blur")) },
      echoed: Wire.tell(4, bytes: 128))
  }

  /// Two windows of one program, whose scenes are in the one in front.
  private static var windows: Load {
    Load(
      name: "Alt-Tab between windows with 4,090 scenes",
      prepare: { stage in
        try stage.becomeWindowBridge(windows: ["w0", "w1"])
        try stage.addOwner("s") { Wire.register($0) }
        try stage.adopt(into: ["w0", "w1"])
      },
      run: { stage, number in try stage.call(Wire.field("w\(number % 2)", "Focus")) },
      echoed: Wire.tell(Stage.most, bytes: 96))
  }

  private static var snapshot: Load {
    Load(
      name: "GetManagedObjects of 126,790 fields", isRefused: true,
      prepare: { stage in
        let options: Wire.Values = [("label", .string(String(repeating: "x", count: 200)))]
        for owner in 0..<31 { try stage.addOwner("f\(owner)_") { Wire.register($0, [], options) } }
      },
      run: { stage, _ in try stage.call(Wire.managedObjects, mayFail: true) }, echoed: Wire.echo("Take", []))
  }

  private static var removals: [Load] {
    func fill(_ stage: Stage) throws {
      try stage.call(Wire.register("big", [], Wire.focus))
      for number in 0..<15 {
        try stage.call(Wire.publish([("demo.Full.K\(number)", .text((1 << 20) - 64))], on: "big"))
      }
    }
    func arrange(_ stage: Stage) throws {
      try stage.call(Wire.register("outer"))
      let options: Wire.Values = [("parent", .path(Wire.path(of: "outer")))]
      try stage.calls((0..<4_000).map { Wire.register("inner\($0)", [], options) })
    }
    return [
      Load(
        name: "Unregister of 15 MiB", prepare: fill,
        run: { stage, _ in try stage.call(Wire.field("big", "Unregister")) },
        undo: fill, echoed: Wire.tell(4, bytes: 128)),
      Load(
        name: "Unregister of a parent of 4,000", prepare: arrange,
        run: { stage, _ in try stage.call(Wire.field("outer", "Unregister")) },
        undo: { stage in
          try stage.calls((0..<4_000).map { Wire.field("inner\($0)", "Unregister") })
          try arrange(stage)
        }, echoed: Wire.tell(4_000, bytes: 96)),
    ]
  }
}

extension Stage {
  /// As many fields as one owner can have beside a few others.
  static let most = 4_090

  /// Has another client register as many fields as it can, named `prefix` and a number.
  /// - Throws: as `call` does.
  func addOwner(_ prefix: String, _ registration: (String) -> WireDraft) throws {
    let owner = try WireConnection(address: address)
    try owner.calls((0..<Stage.most).map { registration("\(prefix)\($0)") })
    others.append(owner)
  }

  /// Owns the window bridge's name, and registers its windows.
  /// - Throws: as `call` does.
  func becomeWindowBridge(windows: [String]) throws {
    try call(Wire.own("org.focusd.Bridge1.Windows"))
    for window in windows { try call(Wire.register(window)) }
  }

  /// Has the windows adopt all others.
  /// - Throws: as `call` does.
  func adopt(into windows: [String]) throws {
    let names = WireValue.array(of: "s", others.map { .string($0.name) })
    for window in windows { try call(Wire.field(window, "Adopt", [names])) }
  }
}

extension Wire {
  static func path(of id: String) -> String { "/org/focusd/Focus1/field/" + id }

  static func own(_ name: String) -> WireDraft {
    .call(
      to: "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName",
      [.string(name), .uint32(4)])
  }

  static let managedObjects = WireDraft.call(
    to: "org.focusd.Focus1", "/org/focusd/Focus1", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")

  /// Has the C echo send `count` signals that carry so many bytes each.
  static func tell(_ count: Int, bytes: Int) -> WireDraft {
    echo("Tell", [.uint32(UInt32(count)), .uint32(UInt32(bytes))])
  }
}
