import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

@Suite("Bound bindings: the owner's object holds the value")
struct ModelBoundTests {
  private let key = "demo.Slider.Value"

  /// A slider that has focus, and a label that it does not let others change.
  private func slider() throws -> Stage {
    let stage = try Stage()
    try stage.register(
      "slider", properties: ["demo.Slider.Value:d", "demo.Slider.Name:s!", "demo.Slider.Later:i"],
      ["demo.Slider.Value": .double(0.5), "demo.Slider.Name": .string("Volume")], commands: ["demo.Slider.Reset"])
    try stage.focus("slider")
    _ = stage.model.settle()
    return stage
  }

  @Test("What the owner told is read, and what it did not tell is nil")
  func read() throws {
    let stage = try slider()
    #expect(try stage.value(key) == .double(0.5))
    #expect(try stage.value("demo.Slider.Name") == .string("Volume"))
    refused(.notFocused(try Key("demo.Slider.Later"))) { _ = try stage.value("demo.Slider.Later") }
  }

  @Test("A write is for the owner to make, also one of what is there")
  func write() throws {
    let stage = try slider()
    let (id, path) = (try FieldID("slider"), try BindingPath(key))
    func write(_ value: MarshalledValue) throws -> WriteOutcome {
      try stage.model.write(value, to: path, at: .focused, by: stage.other)
    }
    #expect(try write(.double(0.8)) == .forwarded(id, .double(0.8)))
    #expect(try stage.value(key) == .double(0.5), "nothing is written before the owner has done it")
    #expect(try write(.double(0.5)) == .forwarded(id, .double(0.5)), "owners forget to tell")
    #expect(try write(.int32(1)) == .forwarded(id, .double(1)))
    refused(.typeMismatch(path, expected: .double, actual: .string)) { _ = try write(.string("1")) }
    // Whoever asks, also the owner, who changes it in its own object.
    for client in [stage.owner, stage.other] {
      refused(.readOnly(try Key("demo.Slider.Name"), id)) {
        try stage.write("demo.Slider.Name", .string("x"), by: client)
      }
    }
  }

  @Test("A write of an element is one of the whole value")
  func element() throws {
    let stage = try Stage()
    let items = try DBusArray(of: .int32, [.int32(1), .int32(2)])
    try stage.register("list", properties: ["demo.List.Items:ai"], ["demo.List.Items": .array(items)])
    let outcome = try stage.model.write(
      .int32(9), to: BindingPath("demo.List.Items/1"), at: .field(FieldID("list")), by: stage.other)
    let whole = MarshalledValue.array(try DBusArray(of: .int32, [.int32(1), .int32(9)]))
    #expect(outcome == .forwarded(try FieldID("list"), whole))
  }

  @Test("Changes that the owner tells are told once, when the model settles, however many there were")
  func flood() throws {
    let stage = try slider()
    let before = stage.model.revision
    for step in 1...1000 { try stage.update("slider", [key: .double(Double(step))]) }
    let changes = stage.model.settle()
    let told = [NamedValue(name: try MemberName("Value"), value: .double(1000))]
    for place in [Place.field(try FieldID("slider")), .focused] {
      #expect(changes.contains(.valuesChanged(place, try InterfaceName("demo.Slider"), changed: told, invalidated: [])))
    }
    #expect(changes.count == 2)
    #expect(stage.model.revision == before + 1000)
    try stage.update("slider", [key: .double(1000)])
    #expect(stage.model.settle().isEmpty)
    #expect(stage.model.revision == before + 1000)
  }

  @Test("A change and its opposite between two tellings are told to nobody")
  func undone() throws {
    let stage = try slider()
    try stage.update("slider", [key: .double(1)])
    try stage.update("slider", [key: .double(0.5)])
    #expect(stage.model.settle().isEmpty)
  }

  @Test("What cannot be the property's value counts as nil", arguments: ["d", "h", "s"])
  func unfit(_ type: String) throws {
    let value: MarshalledValue? =
      switch type {
      case "h": .unixFD(UnixFD(owning: -1))
      case "s": .string(String(repeating: "x", count: 1 << 20))
      default: nil
      }
    let stage = try Stage()
    try stage.register("a", properties: ["demo.A.X:\(type)"], type == "d" ? ["demo.A.X": .double(1)] : [:])
    try stage.focus("a")
    try stage.update("a", ["demo.A.X": value])
    refused(.notFocused(try Key("demo.A.X"))) { _ = try stage.value("demo.A.X") }
  }

  @Test("A value of another type than declared is taken as it is; a write may have either type")
  func otherType() throws {
    let stage = try slider()
    let (id, path) = (try FieldID("slider"), try BindingPath(key))
    try stage.update("slider", [key: .int64(3)])
    #expect(try stage.value(key) == .int64(3))
    func write(_ value: MarshalledValue) throws -> WriteOutcome {
      try stage.model.write(value, to: path, at: .focused, by: stage.other)
    }
    // As told, as declared, and any other number as one of these, as told first.
    for (value, forwarded) in [
      (.int64(4), .int64(4)), (.double(4), .double(4)), (.double(3), .double(3)), (.double(0.5), .double(0.5)),
      (.int32(4), .int64(4)), (.uint64(1 << 63), .double(0x1p63)),
    ] as [(MarshalledValue, MarshalledValue)] {
      #expect(try write(value) == .forwarded(id, forwarded))
    }
    refused(.typeMismatch(path, expected: .int64, actual: .string)) { _ = try write(.string("4")) }
    refused(.typeMismatch(path, expected: .int64, actual: .uint64)) { _ = try write(.uint64(1 << 63 + 1)) }
  }

  @Test("What an object declares otherwise than the vocabulary counts for no write")
  func declaredOtherwise() throws {
    let (stage, key) = (try Stage(), "org.focusd.Range.Value")
    let (id, path) = (try FieldID("a"), try BindingPath(key))
    for declared in ["i", "s"] {
      if declared == "s" { try stage.model.unregister(id, by: stage.owner) }
      try stage.register("a", properties: ["\(key):\(declared)"], [key: .double(1)])
      try stage.focus("a")
      func write(_ value: MarshalledValue) throws -> WriteOutcome {
        try stage.model.write(value, to: path, at: .focused, by: stage.other)
      }
      #expect(try write(.int32(4)) == .forwarded(id, .double(4)))
      refused(.typeMismatch(path, expected: .double, actual: .string)) { _ = try write(.string("four")) }
    }
  }

  @Test("A property that can only be written is there, and never shown")
  func writeOnly() throws {
    let stage = try Stage()
    let (secret, other) = (try Key("demo.A.Secret"), try Key("org.focusd.Text.Content"))
    var observer = Observer()
    let id = try stage.register(
      "a", properties: ["demo.A.Secret:d?", "org.focusd.Text.Content:i?", "demo.A.X:i"],
      ["demo.A.X": .int32(1), "demo.A.Secret": .double(7)])
    try observer.see([.fieldAdded(id)], stage.model)
    try stage.register("window", ["demo.A.Secret": .string("the window's")])
    try stage.focus("a")
    try observer.see(stage.model.settle(), stage.model)
    #expect(observer.focused == [try Key("demo.A.X"): .int32(1)])
    // Of the vocabulary's keys only those of their types are there.
    let field = try stage.model.field(id)
    #expect(field.bindings[secret]?.isWriteOnly == true && field.bindings[other] == nil)
    #expect(stage.model.resolve(secret) == id)
    for client in [stage.owner, stage.other] {
      denied { try stage.value(secret.description, by: client) }
      denied { try stage.write(secret.description, .double(1), if: WriteCondition(revision: 0), by: client) }
      denied { try stage.write(secret.description + "/0", .double(1), by: client) }
      #expect(try stage.model.readAll(at: .field(id), by: client).keys.map(\.description) == ["demo.A.X"])
    }
    for value in [.double(7), .int32(7)] as [MarshalledValue] {
      let outcome = try stage.model.write(value, to: BindingPath(secret), at: .focused, by: stage.other)
      #expect(outcome == .forwarded(id, .double(7)))
    }
    refused(.typeMismatch(BindingPath(secret), expected: .double, actual: .string)) {
      try stage.write(secret.description, .string(""))
    }
    // What its owner tells of it all the same is not taken.
    try stage.update("a", [secret.description: .double(1)])
    #expect(try stage.model.field(id).bindings[secret]?.isWriteOnly == true)
    try stage.model.unregister(id, by: stage.owner)
  }

  private func denied(_ body: () throws -> some Any, at location: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: ModelError.self, sourceLocation: location) { _ = try body() }
    guard case .accessDenied? = error else {
      Issue.record("\(String(describing: error)) instead of accessDenied", sourceLocation: location)
      return
    }
  }

  @Test("What the object does not declare is not taken in")
  func undeclared() throws {
    let stage = try slider()
    try stage.update("slider", ["demo.Slider.Other": .int32(1), "demo.Slider.Reset": .int32(1)])
    #expect(stage.model.fields[try FieldID("slider")]?.bindings.count == 2)
    #expect(stage.model.settle().isEmpty)
  }

  @Test("A key is stored or bound, and only the owner's object changes what is bound")
  func storedAndBound() throws {
    let stage = try slider()
    let slider = try FieldID("slider")
    for name in [key, "demo.Slider.Later"] {
      #expect(throws: ModelError.self) {
        try stage.register("both", properties: ["\(name):d"], stored: [name: .double(1)])
      }
      #expect(throws: ModelError.self) {
        try stage.model.publish([Key(name): .double(1)], on: slider, by: stage.owner)
      }
    }
    #expect(throws: ModelError.self) { try stage.model.withdraw([Key(key)], from: slider, by: stage.owner) }
    #expect(throws: ModelError.self) {
      try stage.register("mine", properties: ["demo.Mine.X:i"], ["demo.Mine.X": .int32(1)], readOnly: ["demo.Mine.X"])
    }
    #expect(throws: ModelError.self) {
      try stage.model.publish([:], readOnly: [Key(key)], on: slider, by: stage.owner)
    }
    #expect(stage.model.fields[slider]?.bindings[try Key(key)]?.isReadOnly == false)
    #expect(throws: ModelError.self) { try stage.register("stays", properties: [], lingers: true) }
    #expect(stage.model.fields.count == 1)
    // Beside what is bound, a field may have stored keys as any.
    try stage.model.publish(
      [Key("demo.Slider.Hint"): .string("x")], readOnly: [Key("demo.Slider.Hint")], on: slider, by: stage.owner)
    #expect(try stage.value("demo.Slider.Hint") == .string("x"))
  }

  @Test("A field's keys: declared properties count whether they have values or not, and so do commands")
  func keyLimit() throws {
    let stage = try Stage()
    let properties = (0..<200).map { "demo.Many.P\($0):i" }
    let commands = (0..<56).map { "demo.Many.C\($0)" }
    func limited(_ body: () throws -> Void) {
      let error = #expect(throws: ModelError.self, performing: body)
      guard case .limitExceeded? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    limited { try stage.register("a", properties: properties, commands: commands + ["demo.Many.More"]) }
    limited { try Stage.object(properties, commands: commands + ["demo.Many.More"]).check() }
    limited { try stage.register("a", properties: properties, commands: commands, stored: ["demo.A.X": .int32(1)]) }
    let id = try stage.register("a", properties: properties, commands: commands)
    limited { try stage.model.publish([Key("demo.A.X"): .int32(1)], on: id, by: stage.owner) }
    try stage.update("a", Dictionary(uniqueKeysWithValues: (0..<200).map { ("demo.Many.P\($0)", .int32(1)) }))
    #expect(stage.model.fields[id]?.bindings.count == 200)
  }

  @Test("An owner's bytes: declarations count, a value too many is nil, and all is given back")
  func byteLimit() throws {
    let stage = try Stage()
    let mebibyte = MarshalledValue.string(String(repeating: "x", count: (1 << 20) - 5))
    for index in 0..<15 { try stage.register("f\(index)", ["demo.A.X": mebibyte]) }
    #expect(throws: ModelError.self) { try stage.register("b", properties: ["demo.A.X:s"], size: (1 << 20) + 1) }
    try stage.register("b", properties: ["demo.A.X:s"], size: 1000)
    try stage.update("b", ["demo.A.X": mebibyte])
    #expect(stage.model.fields[try FieldID("b")]?.bindings.isEmpty == true)
    try stage.update("b", ["demo.A.X": .string("fits")])
    #expect(try stage.value("demo.A.X", at: .field(FieldID("b"))) == .string("fits"))
    stage.model.ownerLeft(stage.owner)
    #expect(stage.model.table.allowances == Allowances())
  }

  @Test("An id is kept for a registration that is under way")
  func reservation() throws {
    let stage = try Stage()
    let id = try FieldID("a")
    try stage.model.reserve(id)
    refused(.fieldExists(id)) { try stage.model.reserve(id) }
    refused(.fieldExists(id)) { try stage.register("a") }
    stage.model.release(id)
    try stage.register("a")
    refused(.fieldExists(id)) { try stage.model.reserve(id) }

    // Nor is it picked for another field.
    let next = try stage.register("")
    let number = try #require(Int(next.text.dropFirst("field".count)))
    let reserved = try FieldID("field\(number + 1)")
    try stage.model.reserve(reserved)
    #expect(try stage.register("") != reserved)
  }

  @Test("A turn that cannot be saved takes back what it did, and not what owners told", arguments: [false, true])
  func rollBack(isRemoved: Bool) throws {
    let stage = try slider()
    stage.model.endTurn()
    let slider = try FieldID("slider")
    let hint = try Key("demo.Slider.Hint")
    try stage.update("slider", [key: .double(0.6)])
    try stage.model.publish([hint: .string("x")], on: slider, by: stage.owner)
    _ = try stage.enable("slider", ["demo.Slider.Reset": false])
    try stage.update("slider", [key: .double(0.7), "demo.Slider.Later": .int32(1)])
    if isRemoved { try stage.model.unregister(slider, by: stage.owner) }
    stage.model.rollBack()
    #expect(try stage.value(key) == .double(0.7))
    #expect(try stage.holder("demo.Slider.Reset") == "slider")
    refused(.notFocused(hint)) { _ = try stage.value(hint.description) }

    let told = [
      NamedValue(name: try MemberName("Later"), value: .int32(1)),
      NamedValue(name: try MemberName("Value"), value: .double(0.7)),
    ]
    let changes = stage.model.settle()
    for place in [Place.field(slider), .focused] {
      #expect(changes.contains(.valuesChanged(place, try InterfaceName("demo.Slider"), changed: told, invalidated: [])))
      #expect(changes.contains(.membersChanged(place, keys: true, commands: false)))
    }
    #expect(changes.count == 4)
  }
}

@Suite("An object that is looked at anew")
struct RenewalTests {
  private func renewed(
    _ stage: Stage, _ properties: [String], _ values: [String: MarshalledValue], _ commands: [String]
  )
    throws
  {
    try stage.model.renew(
      Stage.object(properties, values, commands: commands, size: 10), of: FieldID("a"))
  }

  @Test("A field has then what the object has, in every index, and the rest as it was")
  func renewal() throws {
    let stage = try Stage()
    var observer = Observer()
    try stage.register("window")
    let id = try stage.register(
      "a", properties: ["demo.A.X:i", "demo.A.Y:i", "demo.A.Secret:s?"],
      ["demo.A.X": .int32(1), "demo.A.Y": .int32(2)],
      commands: ["demo.A.Do", "demo.A.Stay"], size: 100, stored: ["demo.S.Own": .int32(5)], parent: "window",
      scope: .scene)
    _ = try stage.enable("a", ["demo.A.Stay": false])
    try stage.focus("window")
    _ = stage.model.settle()
    try observer.see(stage.model.everything, stage.model)
    let revision = try stage.model.read(BindingPath("demo.A.X"), at: .focused, by: stage.other).revision
    try renewed(
      stage, ["demo.A.X:i!", "demo.A.Secret:i", "demo.B.Z:i"],
      ["demo.A.X": .int32(1), "demo.A.Secret": .int32(9), "demo.B.Z": .int32(3)], ["demo.A.Stay", "demo.B.New"])
    try observer.see(stage.model.settle(), stage.model)
    try observer.check(against: stage.model)
    let field = try stage.model.field(id)
    #expect(
      field.bindings.mapValues(\.value)
        == (try keyed([
          "demo.A.X": .int32(1), "demo.A.Secret": .int32(9), "demo.B.Z": .int32(3), "demo.S.Own": .int32(5),
        ])))
    #expect(field.bindings[try Key("demo.A.X")]?.revision == revision)
    #expect(field.bindings[try Key("demo.A.X")]?.isReadOnly == true)
    #expect(field.enabledCommands == [try Key("demo.A.Stay"): false, try Key("demo.B.New"): true])
    #expect(stage.model.resolve(command: try Key("demo.A.Do")) == nil)
    #expect(stage.model.resolve(command: try Key("demo.B.New")) == id)
    #expect(try stage.resolve("demo.B") == "a")
    #expect(stage.model.staleIndexes == [])
  }

  @Test("What cannot be the field's changes nothing")
  func refused() throws {
    let stage = try Stage()
    try stage.register("a", properties: ["demo.A.X:i"], ["demo.A.X": .int32(1)], stored: ["demo.S.Own": .int32(5)])
    let before = WholeState(stage.model)
    #expect(throws: ModelError.self) {
      try renewed(stage, ["demo.S.Own:i"], ["demo.S.Own": .int32(1)], [])
    }
    #expect(throws: ModelError.self) { try renewed(stage, [], [:], (0..<257).map { "demo.A.C\($0)" }) }
    #expect(WholeState(stage.model) == before)
  }

  @Test("It stays if the turn is taken back, also after a change of the field that does not")
  func rollBack() throws {
    let stage = try Stage()
    let id = try stage.register(
      "a", properties: ["demo.A.X:i"], ["demo.A.X": .int32(1)], commands: ["demo.A.Do"],
      stored: ["demo.S.Own": .int32(5)])
    _ = stage.model.settle()
    stage.model.endTurn()
    _ = try stage.enable("a", ["demo.A.Do": false])
    try stage.model.publish(keyed(["demo.S.Own": .int32(6)]), on: id, by: stage.owner)
    try renewed(stage, ["demo.A.Y:i"], ["demo.A.Y": .int32(2)], ["demo.A.Do", "demo.A.New"])
    stage.model.rollBack()
    let field = try stage.model.field(id)
    #expect(field.bindings.mapValues(\.value) == (try keyed(["demo.A.Y": .int32(2), "demo.S.Own": .int32(5)])))
    #expect(field.enabledCommands == [try Key("demo.A.Do"): true, try Key("demo.A.New"): true])
  }
}
