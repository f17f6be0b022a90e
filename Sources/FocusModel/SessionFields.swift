internal import DBusTypes
public import FocusContract

/// Session-scoped fields: which are active, and what they supply.
extension FocusModel {
  /// The session-scoped fields, in the order in which they supply what nothing nearer has.
  public var sessionFields: [FieldID] { table.session.order(front: focus.front) }

  /// The first session-scoped fields, `most` of them: active ones, then those that were, the latest first.
  public func sessionFields(most: Int) -> [FieldID] { table.session.first(most) }

  /// Puts a session-scoped field first, until another becomes active.
  /// - Throws: `ModelError`: `noSuchField`, `invalid` for a field of another scope.
  public func activate(_ id: FieldID) throws(ModelError) {
    let field = try field(id)
    guard field.scope == .session, var activity = field.activity else {
      throw .invalid(
        "the field '\(id)' has the scope '\(field.scope.rawValue)': only one of 'session' can be activated")
    }
    guard !activity.isActivated else { return }
    endActivation()
    activity.isActivated = true
    setActivity(activity, of: id)
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
    let isActive = binding?.value.lookedThrough.isEqual(condition.value) ?? false
    guard isActive != activity.isActive else { return }
    if isActive, table.session.activated != id { endActivation() }
    activity.isActive = isActive
    activity.moment = nextMoment()
    setActivity(activity, of: id)
  }

  /// Changes where the session-scoped field `id` stands among the others; `settle` publishes that.
  func setActivity(_ activity: Activity, of id: FieldID) {
    guard let old = table.fields[id]?.activity, old != activity else { return }
    touch(id)
    arrange { focus, table in table.setActivity(activity, of: id, front: focus.front) }
  }
}

extension Field {
  /// The latest moment that the field remembers.
  var lastMoment: UInt64 {
    let moments = [lastFocused, window?.lastInFront ?? 0, activity?.moment ?? 0]
    return (window?.adopted ?? [:]).values.reduce(moments.max() ?? 0, max)
  }
}

extension MarshalledValue {
  /// Whether both hold the same, numbers by value.
  fileprivate func isEqual(_ other: MarshalledValue) -> Bool { self == other || converted(to: other.type) == other }
}
