extension MarshalledValue {
  /// The same number as a value of `type`, if that holds exactly it; nil otherwise, and if one of the types is no number's.
  ///
  /// -0.0 and NaN are no integers, and 2^53 + 1 is no double.
  public func converted(to type: DBusType) -> MarshalledValue? {
    guard !hasSignature(of: type) else { return self }
    // A large value is not decoded in vain.
    guard storage[1] == 1, type.isBasic else { return nil }
    return value.number(of: type).map { MarshalledValue($0) }
  }

  private func hasSignature(of type: DBusType) -> Bool {
    withParts { signature, _ in signature.elementsEqual(type.description.utf8) }
  }
}
