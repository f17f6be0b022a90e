/// For each scene, who publishes each key with the scope of the scene, oldest first.
///
/// It makes resolution independent of how many fields a scene has.
struct SceneIndex: Hashable {
  private struct Publisher: Hashable {
    let registration: UInt64
    let field: FieldID
  }

  private var scenes: [FieldID: [Key: [Publisher]]] = [:]

  /// The keys that scene-scoped fields of `scene` publish.
  func keys(of scene: FieldID) -> some Collection<Key> { scenes[scene, default: [:]].keys }

  /// The newest scene-scoped field of `scene` that publishes `key`, or nil.
  func newest(_ key: Key, in scene: FieldID) -> FieldID? { scenes[scene]?[key]?.last?.field }

  mutating func add(_ key: Key, of field: Field, in scene: FieldID) {
    guard field.scope == .scene else { return }
    let publisher = Publisher(registration: field.registration, field: field.id)
    var publishers = scenes[scene]?[key] ?? []
    let place = publishers.lastIndex { $0.registration < publisher.registration }.map { $0 + 1 } ?? 0
    publishers.insert(publisher, at: place)
    scenes[scene, default: [:]][key] = publishers
  }

  mutating func remove(_ key: Key, of field: Field, in scene: FieldID) {
    guard field.scope == .scene, var publishers = scenes[scene]?[key] else { return }
    publishers.removeAll { $0.field == field.id }
    scenes[scene]?[key] = publishers.isEmpty ? nil : publishers
    if scenes[scene]?.isEmpty == true { scenes[scene] = nil }
  }
}
