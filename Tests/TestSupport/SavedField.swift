package import FocusModel

extension Field {
  /// The field as it outlives the daemon.
  package var asSaved: Field {
    var field = Field(
      id: id, label: label, scope: scope, lingers: lingers, isSensitive: isSensitive, owner: owner, parent: savedParent,
      registration: registration, service: service, process: claimedProcess, object: savedObject, window: window,
      lastFocused: lastFocused, activity: activity)
    field.bindings = bindings.filter { !$0.value.isBound }
    return field
  }
}
