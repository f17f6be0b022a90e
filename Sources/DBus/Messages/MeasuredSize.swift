internal import CDBus
internal import DBusTypes
internal import Glibc

extension Message {
  /// The bytes of the message's values, one that was received included.
  ///
  /// The elements of arrays are not gone through: it takes as long for the largest message as for a small one, but for
  /// the texts outside of arrays.
  public var measuredBodySize: Int {
    var values = DBusMessageIter()
    guard dbus_message_iter_init(raw, &values) != 0 else { return 0 }
    return Message.end(of: &values, from: 0)
  }

  /// Where the values from `iterator` on end that begin at `start`.
  private static func end(of iterator: inout DBusMessageIter, from start: Int) -> Int {
    var end = start
    repeat { end = endOfValue(at: &iterator, from: end) } while dbus_message_iter_next(&iterator) != 0
    return end
  }

  private static func endOfValue(at iterator: inout DBusMessageIter, from start: Int) -> Int {
    let type = dbus_message_iter_get_arg_type(&iterator)
    let start = start.aligned(to: alignment(of: type))
    switch type {
    case CDBUS_TYPE_STRING, CDBUS_TYPE_OBJECT_PATH: return start + 4 + textLength(at: &iterator) + 1
    case CDBUS_TYPE_SIGNATURE: return start + 1 + textLength(at: &iterator) + 1
    case CDBUS_TYPE_ARRAY:
      let elementType = dbus_message_iter_get_element_type(&iterator)
      var elements = DBusMessageIter()
      dbus_message_iter_recurse(&iterator, &elements)
      return (start + 4).aligned(to: alignment(of: elementType)) + Int(cdbus_iter_get_array_size(&elements))
    case CDBUS_TYPE_VARIANT:
      var content = DBusMessageIter()
      dbus_message_iter_recurse(&iterator, &content)
      guard let signature = dbus_message_iter_get_signature(&content) else { return start }
      defer { dbus_free(signature) }
      return end(of: &content, from: start + 1 + strlen(signature) + 1)
    case CDBUS_TYPE_STRUCT, CDBUS_TYPE_DICT_ENTRY:
      var members = DBusMessageIter()
      dbus_message_iter_recurse(&iterator, &members)
      return end(of: &members, from: start)
    default: return start + alignment(of: type)
    }
  }

  private static func textLength(at iterator: inout DBusMessageIter) -> Int {
    var text: UnsafePointer<CChar>?
    dbus_message_iter_get_basic(&iterator, &text)
    return text.map { strlen($0) } ?? 0
  }

  /// What a value's place is a multiple of, which is also the size of a value of a fixed size.
  private static func alignment(of type: Int32) -> Int {
    switch type {
    case CDBUS_TYPE_BYTE, CDBUS_TYPE_SIGNATURE, CDBUS_TYPE_VARIANT: 1
    case CDBUS_TYPE_INT16, CDBUS_TYPE_UINT16: 2
    case CDBUS_TYPE_INT64, CDBUS_TYPE_UINT64, CDBUS_TYPE_DOUBLE, CDBUS_TYPE_STRUCT, CDBUS_TYPE_DICT_ENTRY: 8
    default: 4
    }
  }
}
