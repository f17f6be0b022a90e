import DBusTypes
import FocusContract
import Foundation
import ProgramSupport
import TestSupport

@testable import FocusModel
@testable import FocusService

/// Runs `body` with the path of a state file that is not there yet, in a directory of its own.
func withStateFile<Result>(_ body: (StateFile) throws -> Result) throws -> Result {
  let directory = FileManager.default.temporaryDirectory.appending(path: "focusd-journal.\(UUID().uuidString)")
  try FileManager.default.createDirectory(
    at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  defer { try? FileManager.default.removeItem(at: directory) }
  return try body(StateFile(path: directory.path() + "/state.db"))
}

/// Runs `body` with a log, and then `said` with the lines in it.
func withLog(_ body: (Log) throws -> Void, said: ([String]) throws -> Void) throws {
  let pipe = Pipe()
  try body(
    Log(
      program: "test", isVerbose: false, showsPriorities: false, descriptor: pipe.fileHandleForWriting.fileDescriptor))
  try pipe.fileHandleForWriting.close()
  let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
  try said(text.split(separator: "\n").map(String.init))
}

extension StateFile {
  var directory: String { String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)) }

  /// The names of the files beside it, but for what SQLite keeps.
  func others() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory)
      .filter { $0 != "state.db" && !$0.hasPrefix("state.db-") }.sorted()
  }
}

/// A model that random operations of every kind drive.
struct RandomModel {
  var model = FocusModel()
  var values: ValueGenerator
  let owners = (1...3).map { BusName(known: ":1.\($0)") }
  let keys: [Key]
  let commands: [Key]
  private let types: [Key: DBusType]

  init(seed: UInt64) throws {
    var values = ValueGenerator(seed: seed)
    keys = try (0..<12).map { try Key("demo.I\($0 / 3).K\($0)") }
    commands = try (0..<4).map { try Key("demo.C\($0 / 2).Do\($0)") }
    types = Dictionary(uniqueKeysWithValues: keys.map { ($0, values.type(depth: 3)) })
    self.values = values
  }

  private mutating func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &values.numbers) }

  private mutating func someValues(_ wanted: ArraySlice<Key>) -> [Key: MarshalledValue] {
    var result: [Key: MarshalledValue] = [:]
    for key in wanted where pick(3) == 0 {
      if let type = types[key] { result[key] = MarshalledValue(values.value(of: type)) }
    }
    return result
  }

  /// Does something; what is refused has changed nothing.
  mutating func step() throws {
    let id = try FieldID("f\(pick(12))")
    let owner = model.fields[id]?.owner ?? owners[pick(3)]
    switch pick(14) {
    case 0..<4: register(id, owner)
    case 4: try? model.publish(someValues(keys[..<9]), readOnly: [], on: id, by: owner)
    case 5: try? model.withdraw(Set(keys.filter { _ in pick(4) == 0 }), from: id, by: owner)
    case 6: try? model.unregister(id, by: owner)
    case 7: if pick(10) == 0 { model.ownerLeft(owner) }
    case 8: try? model.setEnabled([commands[pick(4)]: pick(2) == 0], of: id, by: owner)
    case 9: model.update(someValues(keys[9...]).mapValues { $0 }, of: id)
    case 10: try? model.blur(id, by: owner)
    case 11:
      if let key = keys.randomElement(using: &values.numbers), let type = types[key] {
        _ = try? model.write(MarshalledValue(values.value(of: type)), to: BindingPath(key), at: .focused, by: owner)
      }
    default: try? model.focus(id, by: owner)
    }
  }

  private mutating func register(_ id: FieldID, _ owner: BusName) {
    var options = FieldOptions()
    options.label = pick(2) == 0 ? "Ünïcode\u{301} 'label'\n\(pick(100))" : nil
    options.parent = pick(2) == 0 ? model.fields.keys.sorted().randomElement(using: &values.numbers) : nil
    options.scope = pick(2) == 0 ? .scene : .field
    options.isSensitive = pick(4) == 0
    options.lingers = pick(2) == 0
    let stored = someValues(keys[..<9])
    options.readOnly = Set(stored.keys.filter { _ in pick(3) == 0 })
    if !options.lingers, pick(2) == 0, let path = try? ObjectPath("/object\(pick(9))") {
      let bound = keys[9...]
      options.object = BoundObject(
        .init(
          path: path, interfaces: [nil, [], ["demo.I3", "demo.C0"]][pick(3)],
          live: Set(bound.filter { _ in pick(4) == 0 }),
          commands: Dictionary(
            uniqueKeysWithValues: commands.filter { _ in pick(4) == 0 }.map {
              ($0, pick(2) == 0 ? .empty : Signature(known: [.string, .dictionary(key: .string, value: .variant)]))
            })),
        properties: Dictionary(
          uniqueKeysWithValues: bound.compactMap { key in
            types[key].map { (key, BoundObject.Property(type: $0, isWritable: true)) }
          }),
        commands: Dictionary(uniqueKeysWithValues: commands.map { ($0, .init()) }), values: someValues(bound))
    }
    options.service = pick(3) == 0 ? BusName(known: ":1.77") : nil
    options.process = pick(3) == 0 ? UInt32.max - UInt32(pick(9)) : nil
    _ = try? model.register(id, stored, options, owner: owner)
  }
}

extension FocusModel {
  /// Everything that is to outlive the process.
  var savedFields: [FieldID: Field] { fields.mapValues(\.asSaved) }
}
