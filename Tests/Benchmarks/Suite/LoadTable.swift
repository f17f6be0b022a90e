internal import TestSupport

extension Load {
  static var all: [Load] {
    Shape.all.map { registering($0) } + Shape.all.map { publishing($0) } + writes + [moving] + replies + [leaving]
      + Shape.all.map { introspected($0) } + Shape.all.map { telling($0) } + refused
  }

  private static func registering(_ shape: Shape) -> Load {
    let call = Wire.register("big", shape.values(), Wire.focus)
    return Load(
      name: "Register, \(shape.name)", run: { stage, _ in try stage.call(call) },
      undo: { try $0.call(Wire.field("big", "Unregister")) },
      echoed: Wire.carry(3, .properties(shape.values())))
  }

  private static func publishing(_ shape: Shape) -> Load {
    // One after the other, so that each changes all values.
    let calls = [
      Wire.publish(shape.values(), on: "big"),
      Wire.publish(shape.values().map { ($0.name, $0.value.signature == "s" ? .text(9) : $0.value.one) }, on: "big"),
    ]
    return Load(
      name: "Publish, \(shape.name)", prepare: { try $0.call(Wire.register("big", [], Wire.focus)) },
      run: { stage, _ in try stage.call(calls[0]) },
      undo: { try $0.call(calls[1]) },
      // The first one, which adds them, is told with two signals more.
      echoed: Wire.carry(4, .properties(shape.values())))
  }

  private static var writes: [Load] {
    let texts = ["eleven char", "another one"].map { WireValue.string($0) }
    let wholes = [WireValue.text(1 << 20), .text((1 << 20) - 8)]
    return [
      Load(
        name: "Write of an element of 65,535",
        prepare: { try $0.call(Wire.register("big", [("demo.Big.List", .full())], Wire.focus)) },
        run: { try $0.call(Wire.write("demo.Big.List/30000", texts[($1 + 1) % 2])) },
        echoed: Wire.carry(2, .full())),
      Load(
        name: "Write of 1 MiB",
        prepare: { try $0.call(Wire.register("big", [("demo.Big.Text", wholes[0])], Wire.focus)) },
        run: { try $0.call(Wire.write("demo.Big.Text", wholes[($1 + 1) % 2])) },
        echoed: Wire.carry(2, wholes[0])),
    ]
  }

  private static var moving: Load {
    Load(
      name: "focus on 64 fields of 256 keys",
      prepare: { stage in
        for depth in 0..<64 {
          let values = (0..<256).map { (name: "demo.Path\(depth).K\($0)", value: WireValue.byte(1)) }
          let parent = depth == 0 ? [] : [("parent", WireValue.path("/org/focusd/Focus1/field/d\(depth - 1)"))]
          try stage.call(Wire.register("d\(depth)", values, parent))
        }
        try stage.call(Wire.register("other"))
      },
      run: { stage, _ in
        for (id, member) in [("d63", "Focus"), ("d63", "Blur"), ("other", "Focus")] {
          try stage.call(Wire.field(id, member))
        }
      }, echoed: Wire.tell(2 * 64, bytes: 20 * 256))
  }

  private static var replies: [Load] {
    [
      Load(
        name: "GetManagedObjects, 10,000 fields",
        prepare: { stage in
          // One owner may have 4,096 fields.
          for (owner, count) in [4_000, 4_000, 2_000].enumerated() { try stage.addOwner(count, "f\(owner)_") }
        },
        run: { stage, _ in
          try stage.call(Wire.managedObjects)
        },
        echoed: Wire.echoRepeats(
          "/org/focusd/Focus1", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects")),
      Load(
        name: "ReadAll, 16 MiB",
        prepare: { stage in
          try stage.call(Wire.register("big", [], Wire.focus))
          for number in 0..<16 {
            let value: WireValue = number < 4 ? .full() : .text((1 << 20) - 64)
            try stage.call(Wire.publish([("demo.Full.K\(number)", value)], on: "big"))
          }
        },
        run: { stage, _ in try stage.call(Wire.bindings("ReadAll", at: "field/big")) },
        echoed: Wire.echoRepeats("/org/focusd/Focus1/field/big", Call.bindings, "ReadAll")),
    ]
  }

  private static var leaving: Load {
    func arrive(_ stage: Stage) throws { try stage.addOwner(4_096, "f") }
    return Load(
      name: "owner of 4,096 fields leaves", prepare: arrive,
      run: { stage, _ in
        stage.others = []
        while (try? stage.call(Wire.bindings("ReadAll", at: "field/f4095"))) != nil {}
      }, undo: arrive, echoed: Wire.tell(4_096, bytes: 96))
  }

  private static func introspected(_ shape: Shape) -> Load {
    let object = WireObject("/object", "demo.Bound", shape.values("").map { (String($0.name.dropFirst()), $0.value) })
    let call = Wire.register("bound", [], [("object", .path(object.path)), ("focus", .boolean(true))])
    return Load(
      name: "object, \(shape.name)", run: { stage, _ in try stage.call(call, object: object) },
      undo: { try $0.call(Wire.field("bound", "Unregister")) },
      echoed: Wire.carry(3, .properties(shape.values())))
  }

  private static func telling(_ shape: Shape) -> Load {
    let most = shape.values("").map { (name: String($0.name.dropFirst()), value: $0.value) }
    let least = most.map { (name: $0.name, value: $0.value.signature == "s" ? .text(9) : $0.value.one) }
    let object = WireObject("/object", "demo.Bound", least)
    let ping = WireDraft.call(to: "org.focusd.Focus1", "/org/focusd/Focus1", "org.freedesktop.DBus.Peer", "Ping")
    let changes = [object.change(most), object.change(least)]
    return Load(
      name: "PropertiesChanged, \(shape.name)",
      prepare: { stage in
        let options: Wire.Values = [("object", .path(object.path)), ("focus", .boolean(true))]
        try stage.call(Wire.register("bound", [], options), object: object)
      },
      run: { stage, _ in
        try stage.send(changes[0])
        try stage.call(ping, object: object)
      },
      undo: { stage in
        try stage.send(changes[1])
        try stage.call(ping, object: object)
      },
      echoed: Wire.carry(2, .properties(shape.values())))
  }

  private static var refused: [Load] {
    let arguments = WireValue.array(15 << 20, of: .variant(.byte(1)))
    let commands = WireValue.dictionary(2_000_000, of: .string(""), .boolean(true))
    let values = (0..<60).map { (name: "demo.Big.K\($0)", value: WireValue.array(262_143, of: .variant(.byte(1)))) }
    let calls: [(String, WireDraft, [WireValue])] = [
      (
        "Invoke of 60 MiB",
        Wire.bindings("Invoke", [.string("demo.No.Command"), arguments, .properties()]), [arguments]
      ),
      ("SetEnabled of 2,000,000", Wire.field("small", "SetEnabled", [commands]), [commands]),
      ("Register of 60 MiB", Wire.register("big", values), [.properties(values)]),
    ]
    return calls.map { name, call, echoed in
      Load(
        name: name, isRefused: true, run: { stage, _ in try stage.call(call, mayFail: true) },
        echoed: Wire.echo("Take", echoed))
    }
  }
}

extension WireValue {
  /// A value of the same signature with one element.
  fileprivate var one: WireValue { Shape.all.map { $0.array(3) }.first { $0.signature == signature } ?? self }
}
