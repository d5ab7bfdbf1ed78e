// TestAuthority is a certificate authority for a test.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <memory>
#include <string>

namespace meshwright {

// A certificate and its key, as texts in PEM.
struct TestIdentity {
  std::string certificate;
  std::string key;
};

class TestAuthority {
 public:
  TestAuthority() : key_(NewKey()), certificate_(X509_new()) {
    Fill("test CA", key_.get(), certificate_.get());
    Extend(NID_basic_constraints, "critical,CA:TRUE");
    Sign(0, kHour, certificate_.get());
  }

  std::string certificate() const { return Pem(certificate_.get()); }

  // Issues a certificate. `names` are the subject's alternative names, such as
  // "URI:meshwright://viewer/ann". The certificate is valid from `begin_s` to `end_s`, in seconds
  // from now.
  TestIdentity Issue(const std::string& names, int64_t begin_s = -60, int64_t end_s = kHour) const {
    const Key key = NewKey();
    const Certificate certificate(X509_new());
    Fill("test", key.get(), certificate.get());
    if (!names.empty()) Extend(certificate.get(), NID_subject_alt_name, names);
    Sign(begin_s, end_s, certificate.get());
    return {Pem(certificate.get()), Pem(key.get())};
  }

 private:
  static constexpr int64_t kHour = 3600;

  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
    void operator()(X509* certificate) const { X509_free(certificate); }
    void operator()(BIO* bio) const { BIO_free(bio); }
  };
  using Key = std::unique_ptr<EVP_PKEY, Free>;
  using Certificate = std::unique_ptr<X509, Free>;
  using Text = std::unique_ptr<BIO, Free>;

  static Key NewKey() { return Key(EVP_EC_gen("P-256")); }

  static std::string Drain(BIO* bio) {
    char* data = nullptr;
    const auto size = static_cast<size_t>(BIO_get_mem_data(bio, &data));
    return {data, size};
  }
  static std::string Pem(X509* certificate) {
    const Text text(BIO_new(BIO_s_mem()));
    PEM_write_bio_X509(text.get(), certificate);
    return Drain(text.get());
  }
  static std::string Pem(EVP_PKEY* key) {
    const Text text(BIO_new(BIO_s_mem()));
    PEM_write_bio_PrivateKey(text.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
    return Drain(text.get());
  }

  void Fill(const std::string& name, EVP_PKEY* key, X509* certificate) const {
    constexpr int kVersion3 = 2;
    X509_set_version(certificate, kVersion3);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial_);
    X509_set_pubkey(certificate, key);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate_.get()));
  }
  void Extend(int kind, const std::string& value) const { Extend(certificate_.get(), kind, value); }
  void Extend(X509* certificate, int kind, const std::string& value) const {
    X509V3_CTX context;
    X509V3_set_ctx(&context, certificate_.get(), certificate, nullptr, nullptr, 0);
    X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  void Sign(int64_t begin_s, int64_t end_s, X509* certificate) const {
    X509_gmtime_adj(X509_getm_notBefore(certificate), begin_s);
    X509_gmtime_adj(X509_getm_notAfter(certificate), end_s);
    X509_sign(certificate, key_.get(), EVP_sha256());
  }

  mutable int64_t serial_ = 0;
  const Key key_;
  const Certificate certificate_;
};

}  // namespace meshwright
