import DBusTypes
import FocusContract
import TestSupport
import Testing

@testable import FocusModel
@testable import FocusService

/// How much `GetManagedObjects` replies with is known before it is made.
@Suite struct SnapshotSizeTests {
  private static let (owner, stranger) = (BusName(known: ":1.1"), BusName(known: ":1.22"))

  /// Nothing that fits is refused, and what has no bindings is known to the byte.
  @Test(arguments: [owner, stranger]) func itIsNeverTooLarge(client: BusName) throws {
    var values = ValueGenerator(seed: 24)
    let model = FocusModel()
    let size = SnapshotSize(client: client)
    for number in 0..<300 {
      var options = FieldOptions()
      options.label = Bool.random(using: &values.numbers) ? String(repeating: "x", count: number % 41) : nil
      options.isSensitive = number.isMultiple(of: 5)
      options.lingers = number.isMultiple(of: 3)
      options.scope = [.field, .scene, .session][number % 3]
      options.parent = number.isMultiple(of: 4) ? model.fields.keys.sorted().first : nil
      var bindings: [Key: MarshalledValue] = [:]
      for key in 0..<(number % 4) {
        bindings[try Key("demo.I\(key).Key\(number)")] = MarshalledValue(values.value(of: values.type(depth: 2)))
      }
      let id = FieldID(known: String(repeating: "f", count: 1 + number % 17) + "\(number)")
      _ = try model.register(id, bindings, options, owner: Self.owner)
      let field = try #require(model.fields[id])
      let (least, real) = (size.least(of: field), Self.size(of: id, model, client))
      #expect(size.least <= least && least <= real, "\(id)")
      if bindings.isEmpty { #expect(least == real, "\(id)") }
    }
  }

  private static func size(of id: FieldID, _ model: FocusModel, _ client: BusName) -> Int {
    var writer = WireWriter()
    writer.append(Target.path(of: id).text)
    ObjectSnapshot.write(.field(id), model, client: client, to: &writer)
    writer.align(8)
    return writer.count
  }
}
