internal import DBus
internal import DBusTypes
internal import DaemonClient
internal import FocusContract

/// What stands behind the keys of a browser's fields.
protocol BrowserFieldDelegate: AnyObject {
  /// The values of a tab or an element that are not nil.
  func values(of target: BrowserRequest.Target) -> [Key: DBusValue]
  func isFocused(_ target: BrowserRequest.Target) -> Bool
  /// The daemon says that the field has focus.
  func gainedFocus(_ target: BrowserRequest.Target)
  /// Has the values told anew, and calls `done` when they are.
  func refresh(_ target: BrowserRequest.Target, _ done: @escaping FieldProperty.Completion)
  /// Asks the browser to do something, and calls `done` when it did.
  func request(_ request: BrowserRequest, _ done: @escaping FieldProperty.Completion)
}

/// A tab, or an element, as a field.
struct BrowserField {
  let target: BrowserRequest.Target
  /// The field's number with the publisher, and its group's.
  let number: UInt64

  /// A tab's field, a scene.
  func tab(_ tab: PageTab, process: UInt32?, _ delegate: any BrowserFieldDelegate) -> FieldDescription {
    var field = description("tab", process: process, delegate)
    for key in [ElementKey.documentTitle, ElementKey.url] { field.properties[key] = property(key, .readOnly, delegate) }
    for key in tab.commands { field.commands[key] = command(key, delegate) }
    return field
  }

  /// An element's field below that of its tab.
  func element(
    _ element: PageElement, parent: UInt64, process: UInt32?, _ delegate: any BrowserFieldDelegate
  ) -> FieldDescription {
    let name = element.name
    var field = description(name.isEmpty || name.utf8.count > 256 ? element.role : name, process: process, delegate)
    field.parent = parent
    let shape = PageShape(element)
    for (key, access) in shape.values { field.properties[key] = property(key, access, delegate) }
    for key in shape.commands { field.commands[key] = command(key, delegate) }
    return field
  }

  private func description(
    _ label: String, process: UInt32?, _ delegate: any BrowserFieldDelegate
  ) -> FieldDescription {
    var field = FieldDescription(
      number: number, group: number, objectPath: ObjectPath(known: "/org/focusd/browser/\(number)"))
    field.label = label
    field.process = process
    field.isCoalesced = true
    field.focus = FieldFocus(
      isWanted: { [weak delegate, target] in delegate?.isFocused(target) ?? false },
      set: { [weak delegate, target] in if $0 { delegate?.gainedFocus(target) } })
    field.requests = .asked { [weak delegate, target] done in
      guard let delegate else { return done(.failure(.browserGone)) }
      delegate.request(BrowserRequest(target, .focus), done)
    }
    return field
  }

  private func property(
    _ key: Key, _ access: PageShape.Access, _ delegate: any BrowserFieldDelegate
  ) -> FieldProperty {
    let read: (@escaping FieldProperty.Reading) -> Void = { [weak delegate, target] reading in
      let value = delegate?.values(of: target)[key]
      reading(value.map { .success($0) } ?? .failure(DBusError(.unknownProperty, "\(key) has no value")))
    }
    let write: (DBusValue, @escaping FieldProperty.Completion) -> Void = { [weak delegate, target] value, done in
      guard let delegate else { return done(.failure(.browserGone)) }
      if let error = Self.problem(with: value, for: key) { return done(.failure(error)) }
      delegate.request(BrowserRequest(target, .write(key, value)), done)
    }
    var property = FieldProperty(
      type: Vocabulary.type(of: key) ?? .string, tellsChanges: true,
      read: access == .writeOnly ? nil : read, write: access == .readOnly ? nil : write)
    guard access == .readWrite else { return property }
    // A write that depends on the value must not depend on one that the page is yet to tell.
    property.refresh = { [weak delegate, target] done in
      guard let delegate else { return done(.failure(.browserGone)) }
      // What has no value is told when it has one.
      if delegate.values(of: target)[key] == nil { done(.success(())) } else { delegate.refresh(target, done) }
    }
    return property
  }

  /// Why no page can hold `value`; nil if one may.
  private static func problem(with value: DBusValue, for key: Key) -> DBusError? {
    switch value {
    case .int32(let position) where position < 0:
      return DBusError(.invalidArgs, "\(key) is a position from 0 on, not \(position)")
    case .structure(let members):
      guard case .int32(let start)? = members.first, case .int32(let end)? = members.last, 0 <= start, start <= end
      else { return DBusError(.invalidArgs, "\(key) is two positions from 0 on, the smaller one first") }
      return nil
    case .double(let number) where !number.isFinite:
      return DBusError(.invalidArgs, "\(key) is a finite number, not \(number)")
    default: return nil
    }
  }

  private func command(_ key: Key, _ delegate: any BrowserFieldDelegate) -> FieldCommand {
    FieldCommand(input: key == ElementKey.insert ? [.string] : [], output: []) {
      [weak delegate, target] arguments, done in
      guard let delegate else { return done(.failure(.browserGone)) }
      delegate.request(BrowserRequest(target, .run(key, arguments))) { done($0.map { [] }) }
    }
  }
}

extension DBusError {
  static let browserGone = DBusError(.unknownObject, "the browser is gone")
}
