import DBusTypes

/// The elements of a program that are secret, once and for good.
struct SecretElements {
  private(set) var paths: Set<ObjectPath> = []
  /// Where they are, or were: another that takes the place of one has the same text.
  private(set) var positions: Set<ElementSnapshot.Position> = []

  /// The most that are remembered.
  static let limit = 4096

  /// Notes one more.
  /// - Returns: false if there are more than `limit`, or in more places.
  mutating func note(_ path: ObjectPath, at position: ElementSnapshot.Position?) -> Bool {
    paths.insert(path)
    if let position { positions.insert(position) }
    return paths.count <= Self.limit && positions.count <= Self.limit
  }
}
