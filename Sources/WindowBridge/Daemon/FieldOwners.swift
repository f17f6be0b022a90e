package import DBusTypes
package import FocusContract

/// The scenes that the daemon has, with what decides which windows they are in: whose they are, and of which process.
package struct FieldOwners {
  /// Whose scene a field is, and of which process.
  private struct Place: Equatable {
    let owner: BusName
    let process: UInt32
  }

  private var children: [ObjectPath: Set<ObjectPath>] = [:]
  private var places: [ObjectPath: Place] = [:]
  /// The scenes of each connection by process.
  private var scenes: [BusName: [UInt32: Int]] = [:]

  package init() {}

  /// The connections with scenes, each with the processes that these belong to, as far as the daemon knows them.
  package var processes: [BusName: Set<UInt32>] {
    scenes.mapValues { Set($0.keys.filter { $0 != 0 }) }
  }

  /// Takes over where a field comes from in `fields`, which had `before` for it; nil: it was not there.
  /// - Returns: whether scenes, or whose they are, differ now.
  package mutating func changed(
    _ path: ObjectPath, from before: FieldOrigin?, in fields: [ObjectPath: FieldOrigin]
  ) -> Bool {
    let origin = fields[path]
    if before?.parent != origin?.parent {
      if let parent = before?.parent {
        children[parent]?.remove(path)
        if children[parent]?.isEmpty == true { children[parent] = nil }
      }
      if let parent = origin?.parent { children[parent, default: []].insert(path) }
    }
    // Whether a field is a scene depends on whose its parent is, which may become known later.
    var isOther = place(path, in: fields)
    if before?.owner != origin?.owner {
      for child in children[path] ?? [] { isOther = place(child, in: fields) || isOther }
    }
    return isOther
  }

  /// Counts a field where it is now.
  /// - Returns: whether owners have scenes of other processes than before: another scene of the same is no news.
  private mutating func place(_ path: ObjectPath, in fields: [ObjectPath: FieldOrigin]) -> Bool {
    let (before, after) = (places[path], Self.place(of: fields[path], in: fields))
    guard before != after else { return false }
    places[path] = after
    var isOther = false
    if let before {
      let left = (scenes[before.owner]?[before.process] ?? 1) - 1
      isOther = left == 0
      scenes[before.owner]?[before.process] = left > 0 ? left : nil
      if scenes[before.owner]?.isEmpty == true { scenes[before.owner] = nil }
    }
    if let after {
      isOther = isOther || scenes[after.owner]?[after.process] == nil
      scenes[after.owner, default: [:]][after.process, default: 0] += 1
    }
    return isOther
  }

  /// Whose scene it is; nil for a field that is not one, or that has no owner.
  ///
  /// A scene has no parent, or one that is another connection's: its window.
  private static func place(of origin: FieldOrigin?, in fields: [ObjectPath: FieldOrigin]) -> Place? {
    guard let origin, let owner = try? BusName(origin.owner), owner.isUnique else { return nil }
    if let parent = origin.parent, fields[parent]?.owner == origin.owner { return nil }
    return Place(owner: owner, process: origin.process)
  }
}
