import DBus
import DBusTypes
import DaemonClient
import FocusContract

/// The fields whose commands would resolve if a field had focus, the one that comes first at the front; session fields apart.
struct FocusPath {
  /// The field, and its ancestors.
  let chain: [FieldInfo]
  /// The scene-scoped fields of its scene, the session-scoped ones included, the newest first.
  private(set) var scene: [FieldInfo] = []

  var fields: [FieldInfo] { chain + scene }

  /// The path of the field at `path` among all fields; empty if it is not there.
  init(of path: ObjectPath, among all: [FieldInfo]) {
    let byPath = Dictionary(all.map { ($0.path, $0) }) { first, _ in first }
    func ancestors(_ path: ObjectPath) -> [FieldInfo] { Self.chain(from: byPath[path], among: byPath) }
    chain = ancestors(path)
    // An adopted scene stays one: its fields come first, then those of the window that it is in, and none of the others in it.
    // What the program registered within the window itself looks the same, and is taken for such a scene.
    func scene(of chain: [FieldInfo]) -> ObjectPath? {
      (chain.first { byPath[$0.parent]?.adopted.contains($0.program) == true } ?? chain.last)?.path
    }
    let others = all.filter { $0.scope != "field" }.sorted { $0.position > $1.position }.map {
      (field: $0, scene: scene(of: ancestors($0.path)))
    }
    let (inner, outer) = (scene(of: chain), chain.last?.path)
    self.scene = others.filter { $0.scene == inner }.map(\.field)
    if outer != inner { self.scene += others.filter { $0.scene == outer }.map(\.field) }
  }

  /// The field and its ancestors; empty without a field.
  static func chain(from field: FieldInfo?, among all: [ObjectPath: FieldInfo]) -> [FieldInfo] {
    var chain: [FieldInfo] = []
    var next = field
    while let field = next, chain.count <= all.count {
      chain.append(field)
      next = all[field.parent]
    }
    return chain
  }

  /// The first field that has a command that `name` stands for; nil if none has one.
  /// - Throws: `CommandError` if the name stands for several commands.
  func field(with name: KeyArgument) throws(CommandError) -> ObjectPath? {
    let commands = Set(fields.flatMap { $0.commands.map(\.key) })
    guard let key = try name.resolved(among: commands) else { return nil }
    return fields.first { $0.commands.contains { $0.key == key.name } }?.path
  }

  /// Each command that resolves, with the first field that has it.
  var commands: [(key: String, isEnabled: Bool, field: ObjectPath)] {
    var known: Set<String> = []
    var found: [(key: String, isEnabled: Bool, field: ObjectPath)] = []
    for field in fields {
      for command in field.commands where known.insert(command.key).inserted {
        found.append((command.key, command.isEnabled, field.path))
      }
    }
    return found.sorted { NaturalOrder.precedes($0.key, $1.key) }
  }
}

extension Bindings {
  /// What would resolve if this field had focus.
  func focusPath() throws(CommandError) -> FocusPath { FocusPath(of: path, among: try FieldInfo.all(daemon)) }
}
