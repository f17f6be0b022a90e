import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel

/// Random operations of every kind on a model; what is refused has changed nothing.
struct SavedWalk {
  var model = FocusModel()
  var random: RandomWalkTests.Generator
  let owners: [BusName]
  private let keys: [Key]
  private let ids: [FieldID]
  private let commands: [Key]

  init(seed: UInt64) throws {
    random = .init(state: seed)
    owners = try (1...3).map { try BusName(":1.\($0)") }
    keys = try (0..<6).map { try Key("demo.I\($0 / 2).K\($0)") }
    ids = try (0..<10).map { try FieldID("f\($0)") }
    commands = [try Key("demo.Bound.Up"), try Key("demo.Bound.Down")]
  }

  private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func number() -> MarshalledValue { .int32(Int32(pick(4))) }

  private mutating func someValues() -> [Key: MarshalledValue] {
    var values: [Key: MarshalledValue] = [:]
    for key in keys where pick(3) == 0 { values[key] = number() }
    return values
  }

  /// Does something; owners tell of their objects only where `tells`.
  mutating func step(tells: Bool = true) throws {
    let id = ids[pick(ids.count)]
    let owner = model.fields[id]?.owner ?? owners[pick(3)]
    switch pick(16) {
    case 0..<4: try register(id, owner)
    case 4: try? model.publish(someValues(), readOnly: pick(2) == 0 ? [] : nil, on: id, by: owner)
    case 5: try? model.withdraw(Set(keys.filter { _ in pick(5) == 0 }), from: id, by: owner)
    case 6: try? model.unregister(id, by: owner)
    case 7: if pick(5) == 0 { model.ownerLeft(owner) }
    case 8: try? model.setEnabled([commands[pick(2)]: pick(2) == 0], of: id, by: owner)
    case 9:
      guard tells else { return }
      model.update(
        [
          try Key("demo.Bound.A"): pick(4) == 0 ? nil : number(),
          try Key("demo.Bound.B"): pick(2) == 0 ? nil : number(),
        ], of: id)
    case 10: try? model.blur(id, by: owner)
    case 11..<13:
      _ = try? model.write(number(), to: BindingPath(keys[pick(keys.count)]), at: .focused, by: owner)
    default: try? model.focus(id, by: owner)
    }
  }

  private mutating func register(_ id: FieldID, _ owner: BusName) throws {
    var options = FieldOptions()
    options.parent = pick(2) == 0 ? model.fields.keys.sorted().randomElement(using: &random) : nil
    options.scope = pick(2) == 0 ? .scene : .field
    options.isSensitive = pick(5) == 0
    options.lingers = pick(2) == 0
    if !options.lingers, pick(2) == 0 { options.object = try SavedTests.object(Int32(pick(4))) }
    _ = try? model.register(id, someValues(), options, owner: owner)
  }
}
