internal import BridgeSupport
internal import DBus
internal import DBusTypes

/// What events carry.
extension Message {
  /// The most elements of an event that is read.
  private static let limit = 256

  /// Which detail of an event it is, and its value.
  var detail: (name: String, value: Int32)? {
    guard signatureText.hasPrefix("si") else { return nil }
    // What follows may be large, and says nothing more.
    return try? withBody { bytes throws(DBusError) in
      var reader = BodyReader(bytes)
      guard let name = try? reader.text(), let value = try? reader.int32() else {
        throw DBusError(.invalidArgs, "the event is cut short")
      }
      return (name, value)
    }
  }

  /// What of its element must be read anew because of this event of an object.
  var aspects: ElementAspects {
    switch member?.text {
    case "TextChanged", "TextCaretMoved", "TextSelectionChanged": .text
    case "PropertyChange" where detail?.name == "accessible-value": .value
    case "PropertyChange" where detail?.name == "accessible-name": [.all, .name]
    default: .all
    }
  }

  /// The object that came or went.
  var child: ElementReference? {
    guard let values = try? arguments(elementLimit: Self.limit), values.count >= 4 else { return nil }
    return ElementReference(values[3].variantContent)
  }
}
