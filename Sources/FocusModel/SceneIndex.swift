internal import FocusContract

/// For each scene, which fields have each key, or interface, with the scope of the scene, oldest first.
///
/// It makes resolution independent of how many fields a scene has.
struct SceneIndex<Name: Hashable & Sendable>: Hashable, Sendable {
  private struct Publisher: Hashable, Sendable {
    let registration: UInt64
    let field: FieldID
  }

  private var scenes: [FieldID: [Name: [Publisher]]] = [:]

  /// What scene-scoped fields of `scene` have.
  func names(in scene: FieldID) -> some Collection<Name> { scenes[scene, default: [:]].keys }

  /// The newest scene-scoped field of `scene` that has `name`, or nil.
  func newest(_ name: Name, in scene: FieldID) -> FieldID? { scenes[scene]?[name]?.last?.field }

  mutating func add(_ name: Name, of field: Field, in scene: FieldID) {
    guard field.scope != .field else { return }
    let publisher = Publisher(registration: field.registration, field: field.id)
    var publishers = scenes[scene]?[name] ?? []
    let place = publishers.lastIndex { $0.registration < publisher.registration }.map { $0 + 1 } ?? 0
    publishers.insert(publisher, at: place)
    scenes[scene, default: [:]][name] = publishers
  }

  mutating func remove(_ name: Name, of field: Field, in scene: FieldID) {
    guard field.scope != .field, var publishers = scenes[scene]?[name] else { return }
    publishers.removeAll { $0.field == field.id }
    scenes[scene]?[name] = publishers.isEmpty ? nil : publishers
    if scenes[scene]?.isEmpty == true { scenes[scene] = nil }
  }
}
