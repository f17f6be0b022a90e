package import DBusTypes

/// The scenes that the daemon has, with what decides which windows they are in: whose they are, and of which process.
package struct FieldOwners {
  private struct Entry {
    var owner = ""
    var process: UInt32 = 0
    var parent = ""
  }

  private var fields: [ObjectPath: Entry] = [:]
  /// The scenes of each connection by process.
  private var scenes: [BusName: [UInt32: Int]] = [:]

  package init() {}

  /// The connections with scenes, each with the processes that these belong to, as far as the daemon knows them.
  package var processes: [BusName: Set<UInt32>] {
    scenes.mapValues { Set($0.keys.filter { $0 != 0 }) }
  }

  /// Takes over what the daemon shows of the interface `Field` of the object at `path`.
  /// - Returns: whether scenes, or whose they are, differ now.
  package mutating func update(_ path: ObjectPath, _ properties: [(name: String, value: DBusValue?)]) -> Bool {
    var entry = fields[path] ?? Entry()
    for (name, value) in properties {
      switch (name, value) {
      case ("Owner", .string(let owner)?): entry.owner = owner
      case ("Process", .uint32(let process)?): entry.process = process
      case ("Parent", .objectPath(let parent)?): entry.parent = parent.text
      default: break
      }
    }
    return replace(path, entry)
  }

  /// Forgets a field.
  /// - Returns: whether scenes, or whose they are, differ now.
  package mutating func remove(_ path: ObjectPath) -> Bool { replace(path, nil) }

  /// The fields of `owner`.
  package func fields(of owner: BusName) -> [ObjectPath] {
    fields.filter { $0.value.owner == owner.text }.keys.sorted { $0.text < $1.text }
  }

  private mutating func replace(_ path: ObjectPath, _ entry: Entry?) -> Bool {
    let old = fields.updateValue(entry ?? Entry(), forKey: path)
    if entry == nil { fields[path] = nil }
    let (before, after) = (place(of: old), place(of: entry))
    guard before?.owner != after?.owner || before?.process != after?.process else { return false }
    if let before {
      let left = (scenes[before.owner]?[before.process] ?? 1) - 1
      scenes[before.owner]?[before.process] = left > 0 ? left : nil
      if scenes[before.owner]?.isEmpty == true { scenes[before.owner] = nil }
    }
    if let after { scenes[after.owner, default: [:]][after.process, default: 0] += 1 }
    return true
  }

  /// Whose scene it is; nil for a field that is not one, or that has no owner.
  private func place(of entry: Entry?) -> (owner: BusName, process: UInt32)? {
    guard let entry, let owner = try? BusName(entry.owner), owner.isUnique, isScene(entry) else { return nil }
    return (owner, entry.process)
  }

  /// A scene has no parent, or one that is another connection's: its window.
  private func isScene(_ entry: Entry) -> Bool {
    guard entry.parent != "/", let parent = try? ObjectPath(entry.parent) else { return true }
    return fields[parent].map { $0.owner != entry.owner } ?? true
  }
}
