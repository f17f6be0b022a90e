import DBusTypes
import FocusContract

/// The id of a field as it was typed.
enum FieldID {
  /// The path of the field `id`.
  /// - Throws: `CommandError` if `id` is not a valid id.
  static func path(_ id: String) throws(CommandError) -> ObjectPath {
    guard id.utf8.count <= 64, let path = try? Focus1.field(id) else {
      throw .usage("'\(id)' is not a field id: 1 to 64 characters of [A-Za-z0-9_]")
    }
    return path
  }

  /// The id of the field at `path`.
  static func id(_ path: ObjectPath) -> String { path.elements.last.map(String.init) ?? "" }
}
