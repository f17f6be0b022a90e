internal import DBusTypes

extension Publication {
  /// The same publication, with a number published as `type` if that is not nil.
  func adapted(to type: DBusType?) -> Publication {
    guard let type, case .property(let property) = content else { return self }
    return Publication(name, .property(property.adapted(to: type)))
  }

  /// The publication of `property` in the place of this one, as the type that the key has.
  func replaced(by property: PublishedProperty) -> Publication {
    guard case .property(let own) = content else { return Publication(name, .property(property)) }
    return Publication(name, .property(property.adapted(to: own.type)))
  }
}

extension PublishedProperty {
  /// The same property with its numbers published as `type`; unchanged if one of the two is not a number's type.
  fileprivate func adapted(to type: DBusType) -> PublishedProperty {
    guard type != self.type, type.isNumber, self.type.isNumber else { return self }
    let adapt = { @Sendable (value: DBusValue) throws -> DBusValue in
      let adapted = value.adapted(to: type)
      guard adapted.type == type else {
        throw DBusConversionError("a number of type '\(value.type)' does not fit the key's type '\(type)'")
      }
      return adapted
    }
    let adaptAll = { @Sendable (take: PublishedChanges.Take) in
      take().map { value in Result { try adapt(value.get()) } }
    }
    return PublishedProperty(
      type: type, isolation: isolation, set: set, get: { try adapt(try get()) },
      follow: { onChange in
        let changes = follow { take in onChange { adaptAll(take) } }
        return changes.map { changes in PublishedChanges(take: { adaptAll(changes.take) }, cancel: changes.cancel) }
      })
  }
}

extension DBusType {
  fileprivate var isNumber: Bool {
    switch self {
    case .byte, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double: true
    default: false
    }
  }
}
