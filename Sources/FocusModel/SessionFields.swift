internal import DBusTypes
public import FocusContract

/// Session-scoped fields: which are active, and what they supply.
extension FocusModel {
  /// The session-scoped fields, in the order in which they supply what nothing nearer has.
  public var sessionFields: [FieldID] { table.session.order(front: focus.front) }

  /// Puts a session-scoped field first, until another becomes active.
  /// - Throws: `ModelError`: `noSuchField`, `invalid` for a field of another scope.
  public func activate(_ id: FieldID) throws(ModelError) -> [Change] {
    let field = try field(id)
    guard field.scope == .session, var activity = field.activity else {
      throw .invalid(
        "the field '\(id)' has the scope '\(field.scope.rawValue)': only one of 'session' can be activated")
    }
    guard !activity.isActivated else { return [] }
    return operate { _ in
      endActivation()
      activity.isActivated = true
      setActivity(activity, of: id)
    }
  }

  /// Ends what `activate` began: the field counts as one that was active until now.
  private func endActivation() {
    guard let id = table.session.activated, var activity = fields[id]?.activity else { return }
    activity.isActivated = false
    if !activity.isActive { activity.moment = nextMoment() }
    setActivity(activity, of: id)
  }

  /// Finds out whether the field `id` is active, after a change of what it publishes.
  func updateActivity(of id: FieldID) {
    guard let field = fields[id], !field.isAwaitingObject, var activity = field.activity,
      let condition = activity.condition
    else { return }
    let binding = field.bindings[condition.key].flatMap { $0.isWriteOnly ? nil : $0 }
    let isActive = binding?.value.isEqual(condition.value) ?? false
    guard isActive != activity.isActive else { return }
    if isActive, table.session.activated != id { endActivation() }
    activity.isActive = isActive
    activity.moment = nextMoment()
    setActivity(activity, of: id)
  }

  /// Changes where the session-scoped field `id` stands among the others; `settle` publishes that.
  func setActivity(_ activity: Activity, of id: FieldID) {
    guard let field = table.fields[id], let old = field.activity, old != activity else { return }
    touch(field)
    if unpublishedActivity[id] == nil { unpublishedActivity[id] = old.isActive }
    arrange { _, table in table.setActivity(activity, of: id) }
  }

  /// What must be published of fields that became active, or stopped being so.
  func publishActivity() -> [Change] {
    let changed = unpublishedActivity.sorted { $0.key < $1.key }
    unpublishedActivity = [:]
    return changed.compactMap { id, before in
      fields[id]?.activity.flatMap { $0.isActive == before ? nil : .activeChanged(id) }
    }
  }

  /// The interfaces that the focus path and its scene have.
  var nearInterfaces: Set<InterfaceName> {
    var interfaces: Set<InterfaceName> = []
    for id in focusPath { fields[id].map { interfaces.formUnion($0.interfaces) } }
    for scene in nearScenes {
      interfaces.formUnion(table.interfaces.names(in: scene))
      interfaces.formUnion(table.keys.names(in: scene).lazy.map(\.interface))
    }
    return interfaces
  }

  /// The session-scoped fields that supply what nothing nearer has, by interface.
  var suppliers: [(interface: InterfaceName, field: FieldID)] {
    guard !table.session.isEmpty else { return [] }
    let near = nearInterfaces
    return table.session.interfaces.compactMap { interface in
      guard !near.contains(interface), let id = table.session.supplier(of: interface, front: focus.front) else {
        return nil
      }
      return (interface, id)
    }
  }

  /// What everyone is shown at `focused` of the session-scoped field that supplies `interface`.
  func shownBySession(_ interface: InterfaceName) -> Shown? {
    guard let id = table.session.supplier(of: interface, front: focus.front), let field = fields[id] else { return nil }
    var shown = Shown()
    for (key, binding) in field.bindings where key.interface == interface && !field.isSensitive {
      shown.add(key, binding)
    }
    for (key, isEnabled) in field.commands where key.interface == interface { shown.commands[key] = isEnabled }
    return shown == Shown() ? nil : shown
  }
}

extension Field {
  /// The latest moment that the field remembers.
  var lastMoment: UInt64 {
    var moment = max(window?.lastInFront ?? 0, activity?.moment ?? 0)
    for time in memory.values { moment = max(moment, time) }
    for time in (window?.adopted ?? [:]).values { moment = max(moment, time) }
    return moment
  }
}

extension MarshalledValue {
  /// Whether both hold the same, numbers by value.
  fileprivate func isEqual(_ other: MarshalledValue) -> Bool { self == other || converted(to: other.type) == other }
}
