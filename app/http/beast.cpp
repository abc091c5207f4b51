// The compiled half of Boost.Asio and Boost.Beast; see BOOST_ASIO_SEPARATE_COMPILATION in app/CMakeLists.txt.
#include <boost/asio/impl/src.hpp>
#include <boost/beast/src.hpp>
