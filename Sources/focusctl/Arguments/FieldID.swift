import DBusTypes
import FocusContract

/// The id of a field as it was typed.
extension FieldID {
  /// The path of the field `id`.
  /// - Throws: `CommandError`, a usage error, if `id` is not an id.
  static func path(_ id: String) throws(CommandError) -> ObjectPath {
    do { return try FieldID(id).path } catch { throw .usage(error.description) }
  }

  /// The id of the field at `path`.
  static func id(_ path: ObjectPath) -> String { path.elements.last.map(String.init) ?? "" }
}
