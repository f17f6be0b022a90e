package import DBusTypes

/// Marshalled values as briefly as decoded ones.
extension MarshalledValue {
  package static func byte(_ value: UInt8) -> Self { Self(.byte(value)) }
  package static func boolean(_ value: Bool) -> Self { Self(.boolean(value)) }
  package static func int16(_ value: Int16) -> Self { Self(.int16(value)) }
  package static func uint16(_ value: UInt16) -> Self { Self(.uint16(value)) }
  package static func int32(_ value: Int32) -> Self { Self(.int32(value)) }
  package static func uint32(_ value: UInt32) -> Self { Self(.uint32(value)) }
  package static func int64(_ value: Int64) -> Self { Self(.int64(value)) }
  package static func uint64(_ value: UInt64) -> Self { Self(.uint64(value)) }
  package static func double(_ value: Double) -> Self { Self(.double(value)) }
  package static func string(_ value: String) -> Self { Self(.string(value)) }
  package static func unixFD(_ value: UnixFD) -> Self { Self(.unixFD(value)) }
  package static func array(_ value: DBusArray) -> Self { Self(.array(value)) }
  package static func structure(_ value: [DBusValue]) -> Self { Self(.structure(value)) }
  package static func dictionary(_ value: DBusDictionary) -> Self { Self(.dictionary(value)) }
  package static func variant(_ value: MarshalledValue) -> Self { value.inVariant }
  package static func strings(_ value: [String]) -> Self { Self(.strings(value)) }
  package static func variants(_ value: [DBusValue]) -> Self { Self(.variants(value)) }
}
